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
from orthonmf.files.checkpoint import FileCheckpoint
from orthonmf.progress import listening
from tests.broken_off import break_off
from tests.same_bits import assert_same_bits

pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


def some_matrix(seed=0):
    """Nothing but noise, so that no start is near the end: a fit takes many sweeps."""
    return np.random.default_rng(seed).exponential(size=(600, 20))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("orthogonal", "algorithm", "n_init"),
    [
        ("samples", "best", 1), ("samples", "paper", 3), ("features", "best", 3),
        ("features", "paper", 1), ("both", "best", 1), ("both", "paper", 3),
    ],
)  # fmt: skip
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
    for after in (1, 5):
        path = tmp_path / f"after{after}"
        broken += break_off(path, after, X, 5, **options)
        assert_same_bits(orthonmf.factorize(X, 5, checkpoint=path, **options), unbroken)
        # The file stays; a third call finds everything done.
        assert_same_bits(orthonmf.factorize(X, 5, checkpoint=path, **options), unbroken)
    # Twenty columns are so few that a tournament and a short descent are all there is.
    assert broken >= (1 if orthogonal == "features" else 2)


def test_a_fit_goes_on_from_every_step_to_the_same_bits(tmp_path, monkeypatch):
    rng = np.random.default_rng(1)
    X = rng.poisson(2.0 * np.outer(rng.exponential(size=700), rng.exponential(size=9)))
    options = {"random_state": 0, "certificate": None, "checkpoint": tmp_path / "c"}
    kept = []

    def save(checkpoint):
        saved(checkpoint)
        kept.append(checkpoint.path.read_bytes())

    saved = FileCheckpoint.save
    with monkeypatch.context() as watched:
        watched.setattr(FileCheckpoint, "save", save)
        unbroken = orthonmf.factorize(X, 8, **options)
    assert len(kept) > 4
    for content in kept:
        options["checkpoint"].write_bytes(content)
        assert_same_bits(orthonmf.factorize(X, 8, **options), unbroken)


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
    resumed = orthonmf.factorize(X, 5, checkpoint=tmp_path / "c", **options)
    assert_same_bits(resumed, orthonmf.factorize(X, 5, random_state=11, **options))


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"n_components": 4}, "n_components"),
        ({"orthogonal": "features"}, "orthogonal"),
        ({"algorithm": "paper"}, "algorithm"),
        ({"init": "lines"}, "init"),
        ({"n_init": 2}, "n_init"),
        ({"tol": 0.5}, "tol"),
        ({"random_state": 1}, "random_state"),
        ({"sample_weight": np.arange(1, 601)}, "the data"),
        ({"feature_weight": np.arange(1, 21)}, "the data"),
        ({"X": some_matrix()[:, ::-1]}, "the data"),
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
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        for number, line in enumerate(process.stdout):
            assert line == "sweep\n", "the fit ended before it could be killed"
            if number == 33:  # past a step, whose sweeps are kept when it is done
                break
        time.sleep(0.06)  # anywhere within a sweep or a write
        process.send_signal(signal.SIGKILL)
    X = some_matrix()
    options = {"n_init": 6, "random_state": 3, "certificate": None}
    seen = []
    with listening(lambda *announced: seen.append(1)):
        resumed = orthonmf.factorize(X, 5, checkpoint=path, **options)
    unbroken = []
    with listening(lambda *announced: unbroken.append(1)):
        assert_same_bits(resumed, orthonmf.factorize(X, 5, **options))
    assert len(seen) < len(unbroken) - 15
    assert [entry.name for entry in tmp_path.iterdir()] == ["c"]


def in_steps(change):
    """A header whose first step is changed."""
    return lambda header: {"steps": [{**header["steps"][0], **change(header["steps"][0])}]}


DAMAGED_HEADERS = [
    lambda header: {"identity": 7},
    lambda header: {"generator": None},
    lambda header: {"generator": {"bit_generator": "PCG64", "state": 3}},
    lambda header: {"steps": [3]},
    lambda header: {"steps": None},
    lambda header: {"format": "other"},
    in_steps(lambda step: {"generator": {"a": 1}}),
    in_steps(lambda step: {"finished": "yes"}),
    in_steps(lambda step: {"text": None}),
    in_steps(lambda step: {"history": [10**400]}),
    in_steps(lambda step: {"arrays": ["other"]}),
    in_steps(lambda step: {"arrays": 5}),
]


def test_a_damaged_or_foreign_file_is_refused_and_nothing_is_lost(tmp_path):
    X, path = some_matrix(), tmp_path / "c"
    assert break_off(path, 3, X, 5, random_state=0, certificate=None)
    honest = path.read_bytes()
    with open_archive(path, 2**30) as archive:
        header, arrays = archive.header, {"0 vectors": archive["0 vectors"]}
    contents = [honest[: int(share * len(honest))] for share in (0.0, 0.2, 0.7, 0.99)]
    for damage in DAMAGED_HEADERS:
        write_archive(path, {**header, **damage(header)}, arrays)
        contents.append(path.read_bytes())
    write_archive(path, header, {"0 vectors": np.full(3, np.nan)})
    contents.append(path.read_bytes())
    orthonmf.save(orthonmf.factorize(X, 5, random_state=0), path)
    contents.append(path.read_bytes())
    for content in contents:
        path.write_bytes(content)
        rng = np.random.default_rng(0)
        with pytest.raises(orthonmf.OrthoNMFError, match="delete the file"):
            orthonmf.factorize(X, 5, random_state=rng, certificate=None, checkpoint=path)
        assert path.read_bytes() == content
        assert rng.bit_generator.state == np.random.default_rng(0).bit_generator.state
