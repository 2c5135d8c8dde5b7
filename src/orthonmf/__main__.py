"""``python -m orthonmf``: the command line."""

from orthonmf.cli.main import main

if __name__ == "__main__":
    main()
