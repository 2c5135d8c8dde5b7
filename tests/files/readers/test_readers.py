"""Every format is read with its names, and what makes a table a table is recognized."""

import gzip
import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.io import mmwrite
from scipy.sparse import coo_array, csc_matrix, csr_array, csr_matrix, save_npz

from orthonmf.errors import OrthoNMFError
from orthonmf.files.readers import FileError, read_matrix, read_names
from tests.arrays import to_array

ROWS, COLUMNS = tuple("uvwxyz"), tuple("abcd")


@pytest.fixture
def X():
    X = np.random.default_rng(0).poisson(1.0, (6, 4)).astype(float)
    X[:, 3] += 0.25
    return X


def same(data, X, rows=None, columns=None):
    assert np.array_equal(to_array(data.X), X)
    assert data.row_names == rows
    assert data.column_names == columns


def test_npy_is_mapped_or_read(tmp_path, X):
    path = tmp_path / "x.npy"
    np.save(path, np.asfortranarray(X))
    mapped = read_matrix(path)
    same(mapped, X)
    assert isinstance(mapped.X, np.memmap)
    assert mapped.source == str(path)
    read = read_matrix(path, map_above=10**6)
    same(read, X)
    assert not isinstance(read.X, np.memmap)


def test_npz_holds_arrays_names_and_a_choice(tmp_path, X):
    path = tmp_path / "x.npz"
    np.savez(path, only=X)
    same(read_matrix(path), X)
    np.savez_compressed(path, X=X, row_names=np.array(ROWS), column_names=np.array(COLUMNS), y=X[0])
    same(read_matrix(path), X, ROWS, COLUMNS)
    np.savez(path, a=X, b=X + 1)
    same(read_matrix(path, key="b"), X + 1)
    with pytest.raises(FileError, match="several arrays"):
        read_matrix(path)
    with pytest.raises(FileError, match="no array 'c'"):
        read_matrix(path, key="c")


@pytest.mark.parametrize("kind", ["csr", "coo", "bsr"])
def test_npz_holds_scipy_sparse_matrices(kind, tmp_path, X):
    save_npz(tmp_path / "x.npz", csr_matrix(X).asformat(kind))
    data = read_matrix(tmp_path / "x.npz")
    same(data, X)
    assert data.X.format == "csr"


@pytest.mark.parametrize("packed", [False, True])
def test_matrix_market(packed, tmp_path, X):
    path = tmp_path / ("x.mtx.gz" if packed else "x.mtx")
    with (gzip.open if packed else open)(path, "wb") as file:
        mmwrite(file, coo_array(X))
    same(read_matrix(path), X)


def test_10x_folders_give_cells_as_rows(tmp_path, X):
    with gzip.open(tmp_path / "matrix.mtx.gz", "wb") as file:
        mmwrite(file, coo_array(X.T))
    (tmp_path / "barcodes.tsv").write_text("".join(f"{name}\n" for name in ROWS))
    with gzip.open(tmp_path / "features.tsv.gz", "wt") as file:
        file.write("E0\ta\tGene\nE1\tb\tGene\nE2\ttwin\tGene\nE3\ttwin\tGene\n")
    for path in (tmp_path, tmp_path / "matrix.mtx.gz"):
        same(read_matrix(path), X, ROWS, ("a", "b", "twin (E2)", "twin (E3)"))
    (tmp_path / "barcodes.tsv").write_text("one\n")
    with pytest.raises(FileError, match="does not fit the files next to it: 1 barcodes"):
        read_matrix(tmp_path)
    (tmp_path / "b_matrix.mtx").write_text("")
    with pytest.raises(FileError, match=r"several matrices: b_matrix\.mtx, matrix\.mtx"):
        read_matrix(tmp_path)
    (tmp_path / "none").mkdir()
    with pytest.raises(FileError, match="neither a Zarr store"):
        read_matrix(tmp_path / "none")


def test_what_is_recognized_can_be_overruled(tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("1990,1991,1992\n7,1,2\n8,3,4\n")
    both = read_matrix(path, header=True, index=True)
    same(both, [[1, 2], [3, 4]], ("7", "8"), ("1991", "1992"))


@given(st.lists(st.lists(st.floats(0, 1e300), min_size=3, max_size=3), min_size=1, max_size=8))
def test_numbers_survive_a_table_to_the_last_bit(tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("table") / "x.csv"
    path.write_text("".join(",".join(map(repr, row)) + "\n" for row in rows))
    same(read_matrix(path), np.array(rows))


def test_parquet_keeps_index_and_columns(tmp_path, X):
    pandas = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    frame = pandas.DataFrame(X, index=list(ROWS), columns=list(COLUMNS))
    frame.to_parquet(tmp_path / "x.parquet")
    same(read_matrix(tmp_path / "x.parquet"), X, ROWS, COLUMNS)
    frame.reset_index(names="cell").to_parquet(tmp_path / "y.parquet", index=False)
    same(read_matrix(tmp_path / "y.parquet"), X, ROWS, COLUMNS)
    frame.reset_index(drop=True).to_parquet(tmp_path / "z.parquet")
    same(read_matrix(tmp_path / "z.parquet"), X, None, COLUMNS)
    frame.assign(kind="text", other="text").to_parquet(tmp_path / "t.parquet")
    with pytest.raises(FileError, match="'kind' holds"):
        read_matrix(tmp_path / "t.parquet")
    frame.mask(frame == frame.iloc[2, 1]).convert_dtypes().to_parquet(tmp_path / "n.parquet")
    with pytest.raises(FileError, match="the value is missing"):
        read_matrix(tmp_path / "n.parquet")
    assert np.isnan(read_matrix(tmp_path / "n.parquet", allow_missing=True).X[2, 1])


def test_h5_holds_datasets_sparse_groups_and_10x(tmp_path, X):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "x.h5", "w") as file:
        file["some/where"] = X
        file["names"] = [1, 2]
    same(read_matrix(tmp_path / "x.h5"), X)
    sparse = csr_array(X)
    with h5py.File(tmp_path / "t.h5", "w") as file:
        group = file.create_group("matrix")
        for part in ("data", "indices", "indptr"):
            group[part] = getattr(sparse, part)
        group["shape"] = [4, 6]  # genes by cells, by columns: our rows
        group["barcodes"] = [name.encode() for name in ROWS]
        group["features/name"] = [name.encode() for name in COLUMNS]
    same(read_matrix(tmp_path / "t.h5"), X, ROWS, COLUMNS)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # what anndata and zarr warn of each other
def test_anndata_in_both_of_its_forms(tmp_path, X):
    anndata, pandas = pytest.importorskip("anndata"), pytest.importorskip("pandas")
    obs, var = (pandas.DataFrame(index=list(names)) for names in (ROWS, COLUMNS))
    for name, store in (("dense", np.asarray), ("csr", csr_matrix), ("csc", csc_matrix)):
        adata = anndata.AnnData(store(X), obs=obs, var=var)
        adata.write_h5ad(tmp_path / f"{name}.h5ad")
        adata.write_zarr(tmp_path / f"{name}.zarr")
        for ending in ("h5ad", "zarr"):
            same(read_matrix(tmp_path / f"{name}.{ending}"), X, ROWS, COLUMNS)


def test_an_old_anndata_says_what_it_is_and_what_to_do(tmp_path, X):
    """Before 0.7 tables were compound datasets and raw.X stood on top, as in scanpy's examples."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "old.h5ad", "w") as file:
        file["X"], file["raw.X"] = X - 1, X
        for side, names in (("obs", ROWS), ("var", COLUMNS)):
            index = [(name.encode(), 1.0) for name in names]
            file[side] = np.array(index, dtype=[("index", "S8"), ("n", "f4")])
    why = r"AnnData before version 0\.7; .*write_h5ad\(NEW\)"
    for key in (None, "raw/X"):
        with pytest.raises(FileError, match=why):
            read_matrix(tmp_path / "old.h5ad", key=key)
    same(read_matrix(tmp_path / "old.h5ad", format="h5", key="raw.X"), X)
    anndata = pytest.importorskip("anndata")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        adata = anndata.read_h5ad(tmp_path / "old.h5ad")
    adata.write_h5ad(tmp_path / "new.h5ad")
    same(read_matrix(tmp_path / "new.h5ad"), (X - 1).astype("f4"), ROWS, COLUMNS)


def test_names_of_an_anndata_may_be_a_group_of_texts_and_a_mask(tmp_path, X):
    """As anndata writes them since 0.13, where pandas 3 gives it texts of its own."""
    h5py = pytest.importorskip("h5py")
    pytest.importorskip("anndata")
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = X
        for side, names in (("obs", ROWS), ("var", COLUMNS[:-1])):
            file.create_group(side).attrs["_index"] = "cells"
            index = file.create_group(f"{side}/cells")
            index["values"], index["mask"] = list(names), np.zeros(len(names), bool)
            index.attrs["encoding-type"] = "nullable-string-array"
            index.attrs["encoding-version"] = "0.1.0"
            index["values"].attrs["encoding-type"] = "string-array"
            index["values"].attrs["encoding-version"] = "0.2.0"
    same(read_matrix(tmp_path / "x.h5ad"), X, ROWS)  # names that do not fit are none


@pytest.mark.parametrize("version", [2, 3])
def test_zarr_arrays_and_groups(version, tmp_path, X):
    zarr = pytest.importorskip("zarr")
    array = zarr.create_array(
        str(tmp_path / "x.zarr"), shape=X.shape, dtype="f8", chunks=(2, 2), zarr_format=version
    )
    array[...] = X
    same(read_matrix(tmp_path / "x.zarr"), X)
    group = zarr.open_group(str(tmp_path / "g.zarr"), mode="w", zarr_format=version)
    group.create_array("inner", data=X)
    same(read_matrix(tmp_path / "g.zarr"), X)


def test_the_content_decides_when_the_name_does_not(tmp_path, X):
    np.save(tmp_path / "x.npy", X)
    (tmp_path / "x.npy").rename(tmp_path / "data")
    same(read_matrix(tmp_path / "data"), X)
    same(read_matrix(tmp_path / "data", format="npy"), X)
    with pytest.raises(OrthoNMFError, match="format must be one of"):
        read_matrix(tmp_path / "data", format="xls")


def test_a_packed_file_of_an_unknown_ending_is_no_table(tmp_path):
    content = gzip.compress(b"1,2\n3,4\n")
    for name in ("x.gz", "x.txt.gz", "x.csv.gz"):
        (tmp_path / name).write_bytes(content)
        same(read_matrix(tmp_path / name), [[1, 2], [3, 4]])
    for name in ("x.counts.gz", "x.npy.gz", "x.h5ad.gz"):
        (tmp_path / name).write_bytes(content)
        why = rf"x\{name[1:]}: \{name[1:]} files are not read; packed may be \.mtx\.gz, \.csv\.gz"
        with pytest.raises(FileError, match=why):
            read_matrix(tmp_path / name)
    same(read_matrix(tmp_path / "x.counts.gz", format="csv"), [[1, 2], [3, 4]])
    np.save(tmp_path / "x.npy", np.eye(2))
    (tmp_path / "x").write_bytes(gzip.compress((tmp_path / "x.npy").read_bytes()))
    with pytest.raises(FileError, match=r"x: it is a packed \.npy file, which is not read; packed"):
        read_matrix(tmp_path / "x")


def test_lists_of_names_must_fit(tmp_path):
    path = tmp_path / "names.txt"
    path.write_bytes(gzip.compress("ä\nb c\n\n".encode()))
    assert read_names(path, 2, "rows") == ("ä", "b c")
    with pytest.raises(FileError, match=r"names\.txt: it holds 2 names for 3 rows"):
        read_names(path, 3, "rows")
