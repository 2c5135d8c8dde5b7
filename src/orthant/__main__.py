"""``python -m orthant``: the command line."""

from orthant.cli.main import main

if __name__ == "__main__":
    main()
