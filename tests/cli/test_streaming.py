"""``orthonmf fit`` on data that stay on disk, and after it was killed."""

import signal
import subprocess
import time

import numpy as np
import pytest

import orthonmf
from tests.cli.running import COMMAND, ENVIRONMENT, check_refused

N, M = 30_000, 20
# A quarter of this is less than the matrix takes, and one block of it fits.
BUDGET = "12M"


@pytest.fixture(scope="module")
def X():
    rng = np.random.default_rng(11)
    blocks = rng.integers(3, size=N)[:, None] == rng.integers(3, size=M)
    return (blocks + 0.4 * rng.random((N, M))) * rng.uniform(0.5, 2.0, (N, 1))


@pytest.fixture(scope="module")
def places(X, tmp_path_factory):
    """The same matrix in every format that streams, with names where the format has them."""
    h5py, zarr = pytest.importorskip("h5py"), pytest.importorskip("zarr")
    folder = tmp_path_factory.mktemp("streams")
    np.save(folder / "x.npy", X)
    packed = zarr.create_array(str(folder / "x.zarr"), shape=X.shape, dtype="f8", chunks=(4000, M))
    packed[:] = X
    with h5py.File(folder / "x.h5", "w") as file:
        file.create_dataset("deep/X", data=X, chunks=(1000, M), compression="gzip")
    with h5py.File(folder / "x.h5ad", "w") as file:
        file.create_dataset("X", data=X)
        for part, names in (("obs", [f"c{i}" for i in range(N)]), ("var", "ABCDEFGHIJKLMNOPQRST")):
            group = file.create_group(part)
            group.attrs["_index"] = "_index"
            group.create_dataset("_index", data=[name.encode() for name in names])
    return folder


def fit(run, path, *more):
    run("fit", path, "-k", 3, "--seed", 2, "--certificate", "none", *more, code=0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "orthogonal"),
    [("x.npy", "both"), ("x.h5", "features"), ("x.zarr", "samples"), ("x.h5ad", "samples")],
)
def test_what_streams_gives_the_bits_of_a_memory_map(name, orthogonal, places, run, tmp_path):
    more = ["--orthogonal", orthogonal, "--max-memory", BUDGET, "--h5ad", "none", "-o", "out"]
    fit(run, places / name, *more)
    mapped = np.load(places / "x.npy", mmap_mode="r")
    options = {"orthogonal": orthogonal, "random_state": 2, "certificate": None}
    expected = orthonmf.factorize(mapped, 3, **options)
    streamed = orthonmf.load(tmp_path / "out" / "model.npz")
    np.testing.assert_array_equal(streamed.components, expected.components)
    assert streamed.error == expected.error
    # Steps that need single rows at hand tell streamed data from data that were read.
    assert streamed.steps_run == expected.steps_run
    first = (tmp_path / "out" / "assignments.csv").read_text().splitlines()[1]
    assert first.startswith("c0," if name == "x.h5ad" else "0,")
    assert len((tmp_path / "out" / "features.csv").read_text().splitlines()) == M + 1


@pytest.mark.slow
def test_an_annotated_file_that_was_streamed_is_closed_and_copied(places, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    fit(run, places / "x.h5ad", "--max-memory", BUDGET, "-o", "out")
    with h5py.File(tmp_path / "out" / "x.orthonmf.h5ad", "r") as file:
        assert file["obsm/X_orthonmf"].shape[0] == N


@pytest.mark.slow
def test_transform_and_report_read_what_was_streamed(places, run, tmp_path):
    fit(run, places / "x.h5", "--max-memory", BUDGET, "-o", "out")
    run("transform", "out", places / "x.h5", "-o", "rows.csv", code=0)
    assert (tmp_path / "rows.csv").read_text() == (tmp_path / "out/assignments.csv").read_text()
    run("report", "out", code=0)


@pytest.mark.slow
def test_a_matrix_on_disk_is_not_turned(places, run, tmp_path):
    for name in ("x.npy", "x.h5", "x.zarr"):
        done = run("fit", places / name, "--max-memory", BUDGET, "--transpose", "-o", "out")
        check_refused(done, "--orthogonal features in place of samples")
        assert not (tmp_path / "out").exists()
    fit(run, places / "x.h5", "--transpose", "-o", "out")
    assert orthonmf.load(tmp_path / "out" / "model.npz").components.shape == (3, N)


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--max-memory", "lots"], "--max-memory must be a number of bytes"),
        (["--max-memory", "1M"], "one block of rows takes up to"),
        (["--checkpoint", "nowhere/run.ckpt"], "--checkpoint: there is no folder"),
    ],
)
def test_budgets_and_checkpoints_that_cannot_be_are_refused(more, why, places, run, tmp_path):
    check_refused(run("fit", places / "x.npy", "-o", "out", *more), why)
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_piece_of_a_streamed_file_is_told_in_one_line(places, run, tmp_path):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "x.h5").write_bytes((places / "x.h5").read_bytes())
    with h5py.File(tmp_path / "x.h5", "r") as file:
        piece = file["deep/X"].id.get_chunk_info(25)
    with open(tmp_path / "x.h5", "r+b") as file:
        file.seek(piece.byte_offset)
        file.write(bytes(piece.size))
    check_refused(run("fit", "x.h5", "--max-memory", BUDGET), "error: x.h5: ")
    assert not (tmp_path / "x.orthonmf").exists()


@pytest.mark.slow
def test_a_fit_that_was_killed_goes_on_to_the_same_files(X, places, run, tmp_path):
    # Many starts and a strict end: there is time to be killed in.
    options = ["-k", "7", "--seed", "4", "--n-init", "8", "--tol", "0", "--max-iter", "40"]
    options += ["--max-memory", BUDGET, "--certificate", "none", "--quiet"]
    command = ["fit", str(places / "x.npy"), *options]
    kept = tmp_path / "run.ckpt"
    resumed = [*command, "-o", "broken", "--checkpoint", str(kept)]
    process = subprocess.Popen([*COMMAND, *resumed], cwd=tmp_path, env=ENVIRONMENT)
    while not kept.exists():
        assert process.poll() is None, "the fit ended before it could be killed"
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert not (tmp_path / "broken").exists()
    assert kept.stat().st_size > 0
    for arguments in (resumed, [*command, "-o", "whole"]):
        run(*arguments, code=0)
    for name in ("components.csv", "assignments.csv", "features.csv"):
        broken, whole = ((tmp_path / folder / name).read_bytes() for folder in ("broken", "whole"))
        assert broken == whole
    other = run("fit", places / "x.npy", "-k", 6, "--checkpoint", kept, "-o", "other")
    check_refused(other, "of another fit")
