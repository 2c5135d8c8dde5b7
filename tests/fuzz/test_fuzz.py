"""The fuzzer on a fixed number of files: nothing crashes, hangs, takes much memory or is bare."""

import pytest

from tests.fuzz.campaign import FINE, Cases, campaign

pytest.importorskip("h5py")
pytest.importorskip("zarr")
pytest.importorskip("pyarrow")
pytestmark = pytest.mark.timeout(1200)

# Twenty of every format.
COUNT = 340


class Honest(Cases):
    """The seeds themselves, unchanged."""

    def __init__(self):
        super().__init__(0)
        self.every = [seed for seeds in self.seeds.values() for seed in seeds]

    def make(self, number, folder):
        chosen = self.every[number // 2]
        return chosen, chosen.write(folder)


@pytest.mark.slow
def test_every_seed_is_read():
    cases = Honest()
    odd = range(1, 2 * len(cases.every), 2)  # missing values are let through
    seen = campaign(cases, odd)
    assert seen.failures == []
    assert {how for ended in seen.counts.values() for how in ended} == {"read"}, seen.table()


@pytest.mark.slow
def test_the_same_seed_makes_the_same_files(tmp_path):
    made = []
    for name in ("first", "second"):
        cases, folder = Cases(3), tmp_path / name
        for number in range(64):
            cases.make(number, folder / str(number))
        files = sorted(path for path in folder.rglob("*") if path.is_file())
        made.append({path.relative_to(folder): path.read_bytes() for path in files})
    assert made[0] == made[1]


@pytest.mark.slow
def test_damaged_files_are_read_or_refused(tmp_path):
    seen = campaign(Cases(0), range(COUNT), keep=tmp_path / "failures")
    assert seen.failures == [], seen.table()
    assert len(seen.counts) == 17
    for format, ended in seen.counts.items():
        assert set(ended) <= set(FINE)
        assert ended["refused"], f"no damaged {format} file was refused"
