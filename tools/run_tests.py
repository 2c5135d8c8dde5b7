"""Run the tests in two parts, one after the other, and add up what came out; for `make test`.

Tests marked `cluster` start and kill worker processes. They run last and by themselves, so that
nothing else of the tests takes the cores from them. All arguments but the first go to pytest.
"""

import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

NOTHING_SELECTED = 5
MARKER = "mark.cluster"
COUNTED = ("tests", "failures", "errors", "skipped")


def run(part: str, workers: str, arguments: list[str]) -> tuple[int, Counter]:
    """The exit status of pytest for one part, and how many tests came out how."""
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "told.xml"
        chosen = ["-m", part, "-n", workers, "--dist", "worksteal", f"--junitxml={told}"]
        status = subprocess.call([sys.executable, "-m", "pytest", *chosen, *arguments])
        counts = Counter()
        for suite in ElementTree.parse(told).iter("testsuite") if told.exists() else ():
            counts.update({name: int(suite.get(name, 0)) for name in COUNTED})
    return status, counts


def files_with_clusters(argument: str) -> list[str]:
    """The files of a folder that have tests of clusters, so that no others are imported again."""
    files = sorted(Path(argument).rglob("test_*.py"))
    chosen = [str(one) for one in files if MARKER in one.read_text(encoding="utf-8")]
    return chosen or [argument]


def main(workers: str, arguments: list[str]) -> int:
    """The first status that is not good; a part without tests is, unless both are without."""
    counts, statuses = Counter(), []
    few = [one for argument in arguments for one in files_with_clusters(argument)]
    for part, its_workers, chosen in (("not cluster", workers, arguments), ("cluster", "0", few)):
        status, found = run(part, its_workers, chosen)
        counts += found
        statuses.append(status)
        if status not in (0, 1, NOTHING_SELECTED):  # an interrupt or a wrong argument
            return status
    broken = counts["failures"] + counts["errors"]
    passed = counts["tests"] - broken - counts["skipped"]
    print(f"both parts: {passed} passed, {broken} failed, {counts['skipped']} skipped")
    return max((s for s in statuses if s != NOTHING_SELECTED), default=NOTHING_SELECTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
