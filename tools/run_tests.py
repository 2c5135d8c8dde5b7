"""Run the tests in two parts, side by side, and add up what came out; for `make test`.

Tests marked `cluster` start and kill worker processes and mostly wait for them: they run one after
the other in a process next to the workers of all other tests. All arguments but the first go to
pytest.
"""

import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

NOTHING_SELECTED = 5
MARKER = "mark.cluster"
COUNTED = ("tests", "failures", "errors", "skipped")


def begin(part: str, workers: str, arguments: list[str], **options) -> subprocess.Popen:
    """Start pytest for the tests of a part."""
    chosen = ["-m", part, "-n", workers, "--dist", "worksteal", *arguments]
    return subprocess.Popen([sys.executable, "-m", "pytest", *chosen], **options)


def counted(told: Path) -> Counter:
    """How many tests came out how."""
    suites = ElementTree.parse(told).iter("testsuite") if told.exists() else ()
    return sum((Counter({n: int(suite.get(n, 0)) for n in COUNTED}) for suite in suites), Counter())


def files_with_clusters(argument: str) -> list[str]:
    """The files of a folder that have tests of clusters, so that no others are imported again."""
    files = sorted(Path(argument).rglob("test_*.py"))
    chosen = [str(one) for one in files if MARKER in one.read_text(encoding="utf-8")]
    return chosen or [argument]


def main(workers: str, arguments: list[str]) -> int:
    """The first status that is not good; a part without tests is, unless both are without."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # processes share the cores
    few = [one for argument in arguments for one in files_with_clusters(argument)]
    with tempfile.TemporaryDirectory() as folder:
        told = [Path(folder) / name for name in ("most.xml", "clusters.xml")]
        with open(Path(folder) / "clusters", "w+", encoding="utf-8") as output:
            clusters = begin("cluster", "0", [f"--junitxml={told[1]}", *few], stdout=output)
            most = begin("not cluster", workers, [f"--junitxml={told[0]}", *arguments])
            try:
                statuses = [most.wait(), clusters.wait()]
            except KeyboardInterrupt:  # which they got as well
                statuses = [most.wait(), clusters.wait()]
            output.seek(0)
            print(output.read())
        counts = counted(told[0]) + counted(told[1])
    broken = counts["failures"] + counts["errors"]
    passed = counts["tests"] - broken - counts["skipped"]
    print(f"both parts: {passed} passed, {broken} failed, {counts['skipped']} skipped")
    return max((s for s in statuses if s != NOTHING_SELECTED), default=NOTHING_SELECTED)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
