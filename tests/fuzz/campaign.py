"""A campaign: files made, read in another process, and everything that ended badly kept."""

import shutil
import tempfile
from collections import Counter, defaultdict
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from tests.fuzz.mutations import mutated
from tests.fuzz.readers import outcome, prepare
from tests.fuzz.seeds import all_seeds

FINE = ("read", "refused")
FILES_PER_PROCESS = 2000


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
        if unknown := set(formats).difference(self.formats):
            raise SystemExit(f"no seed is of format {', '.join(unknown)}; see tests/fuzz/seeds.py")

    def make(self, number, folder):
        """Write the files of a case; returns the seed they come from and the path to read."""
        rng = np.random.default_rng([self.seed, number])
        seeds = self.seeds[self.formats[number % len(self.formats)]]
        chosen = seeds[int(rng.integers(len(seeds)))]
        changed = chosen.mutable[int(rng.integers(len(chosen.mutable)))]
        others = [seed.files[changed] for seed in seeds if changed in seed.files]
        damaged = mutated(chosen.files[changed], others, rng, chosen.format)
        return chosen, chosen.write(folder, {changed: damaged})


def campaign(cases, numbers, keep=None):
    """Read the cases of these numbers one by one; what ends badly is told and kept."""
    seen, process = Seen(), new_process()
    for number in numbers:
        with tempfile.TemporaryDirectory(prefix="orthonmf-fuzz-") as name:
            seed, path = cases.make(number, Path(name))
            format = seed.format if seed.reader in ("matrix", "stream") else None
            try:
                reading = process.submit(outcome, seed.reader, str(path), format, number)
                ended, why = reading.result()
            except BrokenProcessPool:
                ended, why = "crash", "the process ended, or was ended because it hung"
                process = new_process()
            seen.counts[seed.format][ended] += 1
            if ended not in FINE:
                again = f"python -m tests.fuzz --seed {cases.seed} --case {number}"
                again += "" if len(cases.formats) > 1 else f" --format {cases.formats[0]}"
                failure = f"{ended}: {seed.format} ({seed.reader}); again: {again}\n{why[-3000:]}"
                seen.failures.append(failure)
                print(failure, flush=True)
                if keep is not None:
                    shutil.copytree(name, Path(keep) / f"case-{number}", dirs_exist_ok=True)
    process.shutdown()
    return seen


def new_process():
    """A process that reads files; another takes its place after some thousands."""
    return ProcessPoolExecutor(
        1, get_context("spawn"), prepare, max_tasks_per_child=FILES_PER_PROCESS
    )
