"""Broken and hostile files through ``orthonmf fit``, each under a memory cap."""

import gzip
import json
import pickle
import zipfile

import numpy as np
import pytest
from scipy.sparse import csr_array, save_npz

from tests.cli.running import check_refused
from tests.files.making import npy, npy_claiming, npz

CAP = 2**30
EVIL = b"cos\nsystem\n(S'touch was-run'\ntR."
MTX = "%%MatrixMarket matrix coordinate real general\n"


def sparse_archive(indices=(0, 4, 1), indptr=(0, 1, 2, 3), shape=(3, 5)):
    return npz(
        data=np.ones(3), indices=np.array(indices, np.int32), indptr=np.array(indptr, np.int32),
        shape=np.array(shape), format=np.array(b"csr"),
    )  # fmt: skip


PICKLED = npy_claiming("(2, 2)", "|O", EVIL)

FILES = {
    "pickle.npy": (PICKLED, "Python objects"),
    "pickle.npz": (npz(X=PICKLED), "never loaded"),
    "8-terabytes.npy": (npy_claiming("(1000000, 1000000)"), "or a damaged one"),
    "long.npy": (npy(np.ones((5, 5))) + b"more", "4 bytes follow the array"),
    "text.npy": (b"1 2 3\n4 5 6\n", "no NumPy array"),
    "cut-header.npy": (b"\x93NUMPY\x01\x00\x76\x00{", "array header, expected 118 bytes"),
    "vector.npy": (npy(np.ones(7)), "2 dimensions"),
    "complex.npy": (npy(np.ones((2, 2)) * 1j), "real numbers"),
    "nan.npy": (npy(np.array([[1.0, np.nan]])), "X[0, 1]"),
    "minus.npy": (npy(np.array([[1.0, -2.0]])), "X[0, 1] = -2"),
    "garbage.npz": (b"PK\x03\x04" + b"garbage" * 20, "no .npz archive"),
    "lying.npz": (npz(X=npy_claiming("(5, 5)", content=b"\0" * 10)), "array 'X' is damaged"),
    "several.npz": (npz(a=np.ones((2, 2)), b=np.eye(2)), "one of them with --key"),
    "outside.npz": (sparse_archive(indices=(0, 99, 1)), "no sparse matrix, or a damaged one: "),
    "indptr.npz": (sparse_archive(indptr=(0, 2**30, 2, 3)), "no sparse matrix, or a damaged one: "),
    "wide.npz": (sparse_archive(shape=(3, 10**14)), "declared shape"),
    "index-9.mtx": (MTX + "% why\n2 2 1\n9 1 3.0\n", "line 4: "),
    "short.mtx": (MTX + "9 9 9\n" + "1 1 1\n" * 8, "9 entries were declared, 8 are there"),
    "more.mtx": (MTX + "3 3 1\n\n1 1 1\n\n2 2 2\n", "line 6: 1 entries were declared, here is"),
    "fraction.mtx": (MTX + "3 3 1\n1 1.0 1\n", "line 3: '1 1.0 1' is no entry"),
    "cells.mtx": (MTX + "3 3 2\n1 1 1\n\n2 2\n", "line 5: '2 2' is no entry, which has here"),
    "zeros.mtx": (MTX + "3 3 1\n1 1 " + "\0" * 5000 + "\n", "line 3: '1 1 "),
    "skew.mtx": (MTX.replace("general", "skew-symmetric") + "3 3 1\n2 1 1\n", "line 1: a skew"),
    "odd.mtx": (MTX.replace("general", "cyclic") + "3 3 1\n2 1 1\n", "header element: cyclic"),
    "empty.mtx": ("", "Line 1: Not a Matrix Market file"),
    "nan.mtx": (MTX + "2 2 2\n1 1 1\n2 2 nan\n", "line 4: '2 2 nan' is no entry"),
    "complex.mtx": (MTX.replace("real", "complex") + "1 1 1\n1 1 1 1\n", "complex numbers"),
    "absurd.mtx": (MTX + "4000000000 4000000000 1\n1 1 1\n", "line 2: "),
    "many.mtx": (MTX + "9 9 1000000000000000\n1 1 1\n", "declared entries would take"),
    "binary.csv": (bytes(range(128, 256)), "no UTF-8 text"),
    "broken.csv.gz": (b"\x1f\x8b\x08garbage", "the packed file is damaged"),
    "garbage.h5": (b"garbage", "no HDF5 file"),
    "garbage.parquet": (b"PAR1garbagePAR1", "no Parquet file"),
}  # fmt: skip


@pytest.mark.parametrize("name", FILES)
def test_it_is_refused_with_its_name_and_place(name, tmp_path, run):
    content, why = FILES[name]
    (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("fit", name, memory=CAP)
    check_refused(done, f"error: {name}: ", why)
    assert "allow_pickle" not in done.err
    # Nothing ran, nothing was written.
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("twice.mtx", MTX + "2 2 3\n1 1 1\n1 1 2\n2 2 2\n"),
        ("crlf.tsv", "x\ty\r\n1\t2\r\n3\t4\r\n"),
        ("pattern.mtx", MTX.replace("real", "pattern") + "2 2 2\n1 1\n2 2\n"),
        ("symmetric-array.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n4\n"),
        ("blank.mtx", MTX + "2 2 1\n\n1 1 2\n\n  \n"),
        ("symmetric.mtx", MTX.replace("general", "symmetric") + "2 2 2\n1 1 1\n2 1 2\n"),
    ],
)
def test_odd_but_honest_files_are_read(name, content, tmp_path, run):
    (tmp_path / name).write_text(content, encoding="utf-8", newline="")
    done = run("fit", name, "-k", 1, "--json", memory=CAP)
    assert done.code == 0, done.err
    assert json.loads(done.out)["input"]["shape"] == [2, 2]


def test_an_archive_that_unpacks_to_much_is_refused_before_it_does(tmp_path, run):
    packed = zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED, compresslevel=1)
    with packed, packed.open("X.npy", "w", force_zip64=True) as member:
        member.write(npy_claiming("(5000, 5000)"))
        for _ in range(50):
            member.write(bytes(4_000_000))
    assert (tmp_path / "bomb.npz").stat().st_size < 2_000_000
    calm = run("--version").peak
    done = run("fit", "bomb.npz", "--max-bytes", "50M", memory=CAP)
    check_refused(done, "bomb.npz: ", "would take 200.0 MB, more than the 50.0 MB allowed")
    assert done.peak - calm < 50_000  # kB


def test_the_default_limit_follows_the_memory_there_is(tmp_path, run):
    mtx = "%%MatrixMarket matrix array real general\n40000 40000\n1\n"
    (tmp_path / "x.mtx").write_text(mtx)
    check_refused(run("fit", "x.mtx", memory=CAP), "x.mtx: ", "would take 12.8 GB, more than the")


def test_tables_that_grow_too_large_are_stopped(tmp_path, run):
    (tmp_path / "x.csv").write_text("1,2,3,4\n" * 20_000)
    check_refused(run("fit", "x.csv", "--max-bytes", "100k"), "x.csv: ", "the table so far")


def test_a_line_without_an_end_is_refused(tmp_path, run):
    line = gzip.compress(b"1," * 30_000_000, compresslevel=1)
    (tmp_path / "x.csv.gz").write_bytes(line)
    check_refused(
        run("fit", "x.csv.gz", "--max-bytes", "1M", memory=CAP), "x.csv.gz: ", "line 1: it is"
    )
    (tmp_path / "x.edges").write_bytes(line)
    done = run("bicluster", "x.edges", "--max-bytes", "1M", memory=CAP)
    check_refused(done, "x.edges: ", "line 1: it is")


def test_hdf5_never_opens_another_file(tmp_path, run):
    h5py = pytest.importorskip("h5py")
    (tmp_path / "secret").write_bytes(np.arange(4.0).tobytes())
    with h5py.File(tmp_path / "other.h5", "w") as file:
        file["x"] = np.ones((2, 2))
    with h5py.File(tmp_path / "storage.h5", "w") as file:
        file.create_dataset("x", (2, 2), "f8", external=[("secret", 0, 32)])
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["x"] = h5py.ExternalLink("other.h5", "/x")
    layout = h5py.VirtualLayout((2, 2), "f8")
    layout[:] = h5py.VirtualSource("other.h5", "x", (2, 2))
    with h5py.File(tmp_path / "virtual.h5", "w") as file:
        file.create_virtual_dataset("x", layout)
    for name, why in (
        ("storage.h5", "keeps its numbers in another file"),
        ("link.h5", "is a link, which is not followed"),
        ("virtual.h5", "keeps its numbers in another file"),
    ):
        for key in ((), ("--key", "x")):
            check_refused(run("fit", name, *key, memory=CAP), f"{name}: ", why)


def test_hdf5_that_lacks_or_claims_too_much_is_refused(tmp_path, run):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "big.h5", "w") as file:
        file.create_dataset("x", (10**7, 10**6), "f8", chunks=(100, 100))
    with h5py.File(tmp_path / "dangling.h5", "w") as file:
        file["x"] = h5py.SoftLink("/nowhere")
    with h5py.File(tmp_path / "two.h5", "w") as file:
        file["a"], file["b/c"] = np.ones((2, 2)), np.ones((2, 2))
    with h5py.File(tmp_path / "no-x.h5ad", "w") as file:
        file["layers/counts"] = np.ones((3, 3))
    with h5py.File(tmp_path / "chunk.h5", "w") as file:
        file.create_dataset(
            "x", (2, 2), "f8", chunks=(20_000, 20_000), maxshape=(None, None), compression="gzip"
        )
    check_refused(run("fit", "big.h5", memory=CAP), "big.h5: ", "would take 80.0 TB")
    check_refused(
        run("fit", "chunk.h5", memory=CAP), "chunk.h5: ", "chunks of shape (20000, 20000)"
    )
    check_refused(run("fit", "dangling.h5"), "dangling.h5: ", "is a link")
    check_refused(run("fit", "two.h5"), "two.h5: ", "/a")
    check_refused(run("fit", "two.h5", "--key", "nowhere"), "two.h5: ", "no 'nowhere'")
    check_refused(run("fit", "no-x.h5ad"), "no-x.h5ad: ", "no 'X' in it; it has layers")
    assert run("fit", "two.h5", "--key", "b/c", "-k", 1).code == 0


def test_zarr_never_unpickles(tmp_path, run):
    pytest.importorskip("zarr")
    store = tmp_path / "x.zarr"
    store.mkdir()
    described = {
        "zarr_format": 2, "shape": [2, 2], "chunks": [2, 2], "dtype": "<f8", "compressor": None,
        "fill_value": 0, "order": "C", "filters": [{"id": "pickle", "protocol": 2}],
    }  # fmt: skip
    (store / ".zarray").write_text(json.dumps(described))
    (store / "0.0").write_bytes(EVIL)
    check_refused(run("fit", "x.zarr", memory=CAP), "x.zarr: ")
    described.update(filters=None, shape=[10**7, 10**7])
    (store / ".zarray").write_text(json.dumps(described))
    check_refused(run("fit", "x.zarr", memory=CAP), "x.zarr: ", "would take 800.0 TB")
    described.update(shape=[2, 2], chunks=[10**6, 10**6])
    (store / ".zarray").write_text(json.dumps(described))
    check_refused(run("fit", "x.zarr", memory=CAP), "x.zarr: ", "chunks")
    described.update(shape=[1_000_000, 1], chunks=[1, 1])
    (store / ".zarray").write_text(json.dumps(described))
    check_refused(run("fit", "x.zarr"), "x.zarr: ", "claims 1,000,000 pieces, 2 files are there")
    assert not (tmp_path / "was-run").exists()


def test_the_pickle_would_have_run(tmp_path, monkeypatch):
    """The bait of these tests is real: unpickled, it leaves a file."""
    monkeypatch.chdir(tmp_path)
    pickle.loads(EVIL)
    assert (tmp_path / "was-run").exists()


def test_model_files_are_not_trusted_either(tmp_path, run):
    save_npz(tmp_path / "x.npz", csr_array(np.eye(3)))
    (tmp_path / "model.npz").write_bytes(npz(header=PICKLED))
    for model in ("model.npz", "x.npz"):
        check_refused(run("transform", model, "x.npz", memory=CAP))
