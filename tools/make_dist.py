"""Build the wheel and the sdist, check both, and try the wheel where nothing else is installed.

For `make dist`. What comes out lies in dist/; nothing is uploaded.
"""

import shutil
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
# What whoever packages a release from the sdist needs, next to the sources.
IN_SDIST = (
    "pyproject.toml",
    "Makefile",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE",
    "tests",
    "docs",
)
SMOKE = """
import numpy as np
import orthonmf

X = np.kron(np.eye(3), np.ones((4, 5)))
for setting in ("samples", "features", "both"):
    result = orthonmf.factorize(X, 3, orthogonal=setting, random_state=0)
    assert result.relative_squared_error < 1e-12, setting
    assert result.certificate.upper_bound is not None, setting
orthonmf.save(result, "model.npz")
assert np.array_equal(orthonmf.load("model.npz").components, result.components)
assert orthonmf.OrthogonalNMF(3, random_state=0).fit(X).labels_.shape == (12,)
assert "site-packages" in orthonmf.__file__, orthonmf.__file__
print("smoke test: orthonmf", orthonmf.__version__, "works from its wheel")
"""


def run(*command: str | Path, cwd: Path = ROOT) -> None:
    """Run a command and end with its status when it fails."""
    done = subprocess.run([str(part) for part in command], cwd=cwd)
    if done.returncode:
        raise SystemExit(done.returncode)


def build() -> tuple[Path, Path]:
    """The wheel and the sdist, made from nothing; the wheel is built from the sdist."""
    shutil.rmtree(DIST, ignore_errors=True)
    run(sys.executable, "-m", "build", "--outdir", DIST, ROOT)
    (wheel,), (sdist,) = DIST.glob("*.whl"), DIST.glob("*.tar.gz")
    return wheel, sdist


def check_sdist(sdist: Path) -> None:
    """Everything that a packager needs is inside."""
    with tarfile.open(sdist) as packed:
        parts = {Path(name).parts[1] for name in packed.getnames() if len(Path(name).parts) > 1}
    missing = sorted(set(IN_SDIST) - parts)
    if missing:
        raise SystemExit(f"{sdist.name} lacks {', '.join(missing)}")


def try_wheel(wheel: Path) -> None:
    """Install the wheel into an empty environment; run the command, the demo and a smoke test."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder)
        venv.create(bare / "env", with_pip=True)
        programs = bare / "env" / ("Scripts" if sys.platform == "win32" else "bin")
        pip = (programs / "python", "-m", "pip", "--disable-pip-version-check", "--quiet")
        run(*pip, "install", wheel)
        run(programs / "orthonmf", "--version", cwd=bare)
        run(programs / "orthonmf", "demo", cwd=bare)
        run(programs / "python", "-c", SMOKE, cwd=bare)


def main() -> None:
    """All of it; the first thing that is wrong ends it."""
    wheel, sdist = build()
    run(sys.executable, "-m", "twine", "check", "--strict", wheel, sdist)
    check_sdist(sdist)
    try_wheel(wheel)
    print(f"made and tried: {wheel.name}, {sdist.name}")


if __name__ == "__main__":
    main()
