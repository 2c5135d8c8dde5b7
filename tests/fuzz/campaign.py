"""A campaign: files made, read in worker processes, and everything that ended badly kept."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter, defaultdict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread

import numpy as np

from tests.fuzz.mutations import mutated
from tests.fuzz.seeds import all_seeds

FINE = ("read", "refused")
FILES_PER_WORKER = 2000
ROOT = Path(__file__).parents[2]


@dataclass
class Seen:
    """What a campaign has seen."""

    counts: dict = field(default_factory=lambda: defaultdict(Counter))  # format -> how it ended
    failures: list = field(default_factory=list)

    def table(self):
        lines = []
        for format, ended in sorted(self.counts.items()):
            told = ", ".join(f"{number} {how}" for how, number in sorted(ended.items()))
            lines.append(f"{format:>12}: {sum(ended.values()):>7} files: {told}")
        return "\n".join(lines)


class Cases:
    """Case number i of a seed is the same file every time."""

    def __init__(self, seed, formats=()):
        self.seed = seed
        self.seeds = {}
        for honest in all_seeds():
            if not formats or honest.format in formats:
                self.seeds.setdefault(honest.format, []).append(honest)
        self.formats = sorted(self.seeds)

    def make(self, number, folder):
        """Write the files of a case; returns the seed they come from and the path to read."""
        rng = np.random.default_rng([self.seed, number])
        seeds = self.seeds[self.formats[number % len(self.formats)]]
        chosen = seeds[int(rng.integers(len(seeds)))]
        changed = chosen.mutable[int(rng.integers(len(chosen.mutable)))]
        others = [seed.files[changed] for seed in seeds if changed in seed.files]
        damaged = mutated(chosen.files[changed], others, rng, chosen.format)
        return chosen, chosen.write(folder, {changed: damaged})


class Worker:
    """A process that reads files; a new one takes its place when it has died."""

    def __init__(self):
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115  closed with the process
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.fuzz.worker"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
            text=True, cwd=ROOT, env=environment,
        )  # fmt: skip

    def read(self, order):
        """How reading ended; None for the answer means that the process has died."""
        try:
            self._process.stdin.write(json.dumps(order) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass
        answer = self._process.stdout.readline()
        if answer:
            return json.loads(answer)
        code = self._process.wait()
        self._errors.seek(0)
        told = self._errors.read().decode(errors="replace")
        ended = "hang" if "Timeout (" in told else "crash"
        return {"ended": ended, "why": f"exit code {code}\n{told[-3000:]}"}

    @property
    def alive(self):
        return self._process.poll() is None

    def close(self):
        self._process.stdin.close()
        self._process.wait()
        self._process.stdout.close()
        self._errors.close()


def campaign(cases, numbers, *, jobs=1, keep=None, seconds=None, tell=None):
    """Read the cases of these numbers; stops early after some seconds if told to."""
    seen, lock, numbers = Seen(), Lock(), iter(numbers)
    end = None if seconds is None else time.monotonic() + seconds

    def work():
        worker, done = Worker(), 0
        while end is None or time.monotonic() < end:
            with lock:
                number = next(numbers, None)
            if number is None:
                break
            if not worker.alive or done == FILES_PER_WORKER:
                worker.close()
                worker, done = Worker(), 0
            done += 1
            with tempfile.TemporaryDirectory(prefix="orthonmf-fuzz-") as name:
                seed, path = cases.make(number, Path(name))
                order = {"reader": seed.reader, "path": str(path), "format": _format(seed)}
                answer = worker.read({**order, "number": number})
                with lock:
                    seen.counts[seed.format][answer["ended"]] += 1
                    if answer["ended"] not in FINE:
                        failure = _failure(cases, number, seed, answer)
                        seen.failures.append(failure)
                        _keep(keep, number, Path(name), failure)
                        if tell is not None:
                            tell(failure)
        worker.close()

    threads = [Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return seen


def _format(seed):
    return seed.format if seed.reader in ("matrix", "stream") else None


def _failure(cases, number, seed, answer):
    again = f"python -m tests.fuzz --seed {cases.seed} --case {number}"
    again += "" if len(cases.formats) > 1 else f" --format {cases.formats[0]}"
    return f"{answer['ended']}: {seed.format} ({seed.reader}); again: {again}\n{answer['why']}"


def _keep(keep, number, folder, failure):
    if keep is not None:
        place = Path(keep) / f"case-{number}"
        shutil.copytree(folder, place, dirs_exist_ok=True)
        (place / "failure.txt").write_text(failure)
