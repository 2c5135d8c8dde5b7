"""A fit that was broken off goes on, ends with the same bits, and trusts no foreign file."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf import fitting
from orthonmf.files.archive import open_archive, write_archive
from orthonmf.progress import listening

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


class BrokenOffError(Exception):
    """Stands for whatever ends a process."""


def some_matrix(seed=0):
    """Nothing but noise, so that no start is near the end: a fit takes many sweeps."""
    return np.random.default_rng(seed).exponential(size=(600, 20))


def written(path):
    return path.stat().st_mtime_ns if path.exists() else None


def break_off(path, after, X, k, **options):
    """Run a fit and break it off when it has kept something new so many times."""
    before = written(path)
    seen = set()

    def count(*announced):
        seen.add(written(path))
        if len(seen - {before}) == after:
            raise BrokenOffError

    try:
        with listening(count):
            orthonmf.factorize(X, k, checkpoint=path, **options)
    except BrokenOffError:
        return True
    return False


def same(one, other):
    np.testing.assert_array_equal(one.components, other.components)
    for left, right in ((one.labels, other.labels), (one.scales, other.scales)):
        assert (left is None) == (right is None)
        assert left is None or np.array_equal(left, right)
    assert one.error == other.error
    assert one.history == other.history
    assert one.n_sweeps == other.n_sweeps
    assert one.steps_run == other.steps_run


@pytest.mark.slow
@pytest.mark.parametrize("n_init", [1, 3])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_fit_that_goes_on_ends_with_the_bits_of_an_unbroken_one(
    orthogonal, algorithm, n_init, tmp_path
):
    X = some_matrix()
    options = {
        "orthogonal": orthogonal,
        "algorithm": algorithm,
        "n_init": n_init,
        "random_state": 3,
        "certificate": None,
        "tol": 1e-7,
    }
    unbroken = orthonmf.factorize(X, 5, **options)
    broken = 0
    for after in (1, 3, 9, 30):
        path = tmp_path / f"after{after}"
        broken += break_off(path, after, X, 5, **options)
        same(orthonmf.factorize(X, 5, checkpoint=path, **options), unbroken)
        # The file stays; a third call finds everything done.
        same(orthonmf.factorize(X, 5, checkpoint=path, **options), unbroken)
    # Twenty columns are so few that a tournament and a short descent are all there is.
    assert broken >= (1 if orthogonal == "features" else 2)


@pytest.mark.slow
def test_a_fit_may_be_broken_off_again_and_again(tmp_path):
    X, options = csr_array(some_matrix(1)), {"random_state": 0, "certificate": None, "n_init": 4}
    unbroken = orthonmf.factorize(X, 5, **options)
    while break_off(tmp_path / "c", 2, X, 5, **options):
        pass
    same(orthonmf.factorize(X, 5, checkpoint=tmp_path / "c", **options), unbroken)


def test_finished_sweeps_are_not_repeated(tmp_path):
    X, options = some_matrix(2), {"random_state": 0, "certificate": None, "tol": 0.0}
    assert break_off(tmp_path / "c", 4, X, 5, **options)
    seen = []
    with listening(lambda *announced: seen.append(announced)):
        orthonmf.factorize(X, 5, checkpoint=tmp_path / "c", **options)
    everything = []
    with listening(lambda *announced: everything.append(announced)):
        orthonmf.factorize(X, 5, **options)
    # Three sweeps were kept, and so was everything that came before them.
    assert 0 < len(seen) <= len(everything) - 3


def test_without_a_seed_the_random_numbers_of_the_file_go_on(tmp_path):
    X = some_matrix()
    options = {"certificate": None, "n_init": 3}
    assert break_off(tmp_path / "c", 5, X, 5, random_state=11, **options)
    found = orthonmf.factorize(X, 5, checkpoint=tmp_path / "c", **options)
    same(found, orthonmf.factorize(X, 5, random_state=11, **options))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n_components": 4}, "n_components"),
        ({"orthogonal": "features"}, "orthogonal"),
        ({"algorithm": "paper"}, "algorithm"),
        ({"init": "lines"}, "init"),
        ({"n_init": 2}, "n_init"),
        ({"max_iter": 7}, "max_iter"),
        ({"tol": 0.5}, "tol"),
        ({"random_state": 1}, "random_state"),
        ({"sample_weight": np.arange(1, 601)}, "the data"),
        ({"X": some_matrix(5)}, "the data"),
        ({"X": some_matrix().astype(np.float32)}, "the data"),
        ({"X": csr_array(some_matrix())}, "the data"),
    ],
)
def test_other_fits_are_refused_by_name(change, named, tmp_path):
    given = {"X": some_matrix(), "n_components": 5, "random_state": 0, "certificate": None}
    assert break_off(tmp_path / "c", 2, given["X"], 5, random_state=0, certificate=None)
    content = (tmp_path / "c").read_bytes()
    with pytest.raises(orthonmf.OrthoNMFError, match=f"of another fit: {named}.*delete the file"):
        orthonmf.factorize(**{**given, **change}, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == content


def test_other_versions_are_refused(tmp_path, monkeypatch):
    X = some_matrix()
    assert break_off(tmp_path / "c", 2, X, 5, random_state=0, certificate=None)
    monkeypatch.setattr(fitting, "__version__", "0.0.9")
    told = f"version of orthonmf was '{orthonmf.__version__}', now.*0.0.9"
    with pytest.raises(orthonmf.OrthoNMFError, match=told):
        orthonmf.factorize(X, 5, random_state=0, certificate=None, checkpoint=tmp_path / "c")


@pytest.mark.parametrize("share", [0.0, 0.2, 0.7, 0.99])
def test_a_truncated_file_is_refused(share, tmp_path):
    X = some_matrix()
    assert break_off(tmp_path / "c", 3, X, 5, random_state=0, certificate=None)
    content = (tmp_path / "c").read_bytes()
    (tmp_path / "c").write_bytes(content[: int(share * len(content))])
    with pytest.raises(orthonmf.OrthoNMFError, match=r"cannot be read.*delete the file"):
        orthonmf.factorize(X, 5, random_state=0, certificate=None, checkpoint=tmp_path / "c")


def test_a_damaged_or_foreign_file_is_refused(tmp_path):
    X = some_matrix()
    assert break_off(tmp_path / "c", 3, X, 5, random_state=0, certificate=None)
    with open_archive(tmp_path / "c", 2**30) as archive:
        header, values = archive.header, archive["values"]
    refused = pytest.raises(orthonmf.OrthoNMFError, match=r"cannot be read.*delete the file")
    write_archive(tmp_path / "c", header, {"values": values[:-1]})
    with refused:
        orthonmf.factorize(X, 5, random_state=0, checkpoint=tmp_path / "c")
    write_archive(tmp_path / "c", {**header, "format": "other"}, {"values": values})
    with refused:
        orthonmf.factorize(X, 5, random_state=0, checkpoint=tmp_path / "c")
    orthonmf.save(orthonmf.factorize(X, 5, random_state=0), tmp_path / "model")
    with refused:
        orthonmf.factorize(X, 5, random_state=0, checkpoint=tmp_path / "model")


def test_a_folder_and_missing_values_are_refused(tmp_path):
    X = some_matrix()
    with pytest.raises(OSError, match=r"folder|directory"):
        orthonmf.factorize(X, 5, checkpoint=tmp_path)
    X[3, 4] = np.nan
    with pytest.raises(
        orthonmf.OrthoNMFError, match=r"checkpoint would be ignored.*missing values"
    ):
        orthonmf.factorize(X, 5, missing_values=np.nan, checkpoint=tmp_path / "c")


FIT = """
import sys
import time
import numpy as np
import orthonmf
from orthonmf.progress import listening

X = np.random.default_rng(0).exponential(size=(600, 20))
with listening(lambda *announced: (print("sweep", flush=True), time.sleep(0.02))):
    orthonmf.factorize(X, 5, n_init=6, random_state=3, checkpoint=sys.argv[1], certificate=None)
print("done", flush=True)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="processes are killed by a POSIX signal")
def test_a_killed_process_loses_nothing(tmp_path):
    path = tmp_path / "c"
    command = [sys.executable, "-c", textwrap.dedent(FIT), str(path)]
    for sweeps in (5, 9, 14):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            for number, line in enumerate(process.stdout):
                assert line == "sweep\n", "the fit ended before it could be killed"
                if number == sweeps:
                    break
            time.sleep(0.005 * sweeps)  # anywhere within a sweep or a write
            process.send_signal(signal.SIGKILL)
    X = some_matrix()
    options = {"n_init": 6, "random_state": 3, "certificate": None}
    seen = []
    with listening(lambda *announced: seen.append(1)):
        found = orthonmf.factorize(X, 5, checkpoint=path, **options)
    unbroken = []
    with listening(lambda *announced: unbroken.append(1)):
        same(found, orthonmf.factorize(X, 5, **options))
    assert len(seen) < len(unbroken) - 15
    assert [entry.name for entry in tmp_path.iterdir()] == ["c"]


@pytest.mark.parametrize(
    "damage",
    [
        {"identity": 7},
        {"generator": None},
        {"generator": {"bit_generator": "PCG64", "state": 3}},
        {"steps": [3]},
        {"steps": "all"},
        {"steps": None},
    ],
)
def test_a_damaged_header_is_refused_and_nothing_is_lost(damage, tmp_path):
    X = some_matrix()
    assert break_off(tmp_path / "c", 3, X, 5, random_state=0, certificate=None)
    with open_archive(tmp_path / "c", 2**30) as archive:
        header, values = archive.header, archive["values"]
    write_archive(tmp_path / "c", {**header, **damage}, {"values": values})
    before = (tmp_path / "c").read_bytes()
    rng = np.random.default_rng(0)
    with pytest.raises(orthonmf.OrthoNMFError, match=r"cannot be read.*delete the file"):
        orthonmf.factorize(X, 5, random_state=rng, certificate=None, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == before
    assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state


def test_damaged_steps_are_refused(tmp_path):
    X = some_matrix()
    assert break_off(tmp_path / "c", 3, X, 5, random_state=0, certificate=None)
    with open_archive(tmp_path / "c", 2**30) as archive:
        header, values = archive.header, archive["values"]
    first, *rest = header["steps"]
    refused = pytest.raises(orthonmf.OrthoNMFError, match="delete the file")
    for change in (
        {"generator": {"a": 1}},
        {"finished": "yes"},
        {"text": None},
        {"history": [10**400]},
        {"shapes": {"vectors": [-1, -100]}},
        {"shapes": {"other": first["shapes"]["vectors"]}},
    ):
        write_archive(
            tmp_path / "c", {**header, "steps": [{**first, **change}, *rest]}, {"values": values}
        )
        with refused:
            orthonmf.factorize(X, 5, random_state=0, certificate=None, checkpoint=tmp_path / "c")
    values = values.copy()
    values[0] = np.nan
    write_archive(tmp_path / "c", header, {"values": values})
    with refused:
        orthonmf.factorize(X, 5, random_state=0, certificate=None, checkpoint=tmp_path / "c")
