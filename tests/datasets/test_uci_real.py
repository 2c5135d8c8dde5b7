"""The real sets: the cached files load as they are, and their originals are read to the same."""

import gzip
import os
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from orthonmf.datasets import load_uci
from orthonmf.datasets.uci.catalog import CATALOG

SETS = ["amazon-commerce-reviews", "arcene-train", "mfeat-pix", "bow-kos", "bow-nips"]


def same(X, Y):
    if isinstance(X, csr_array):
        return X.shape == Y.shape and (X != Y).nnz == 0
    return np.array_equal(X, Y)


@pytest.mark.slow
@pytest.mark.parametrize("name", SETS)
def test_a_cached_set_loads_and_its_folder_stays_as_it_is(real_set, name):
    X = real_set(name)
    folder = Path(os.environ["ORTHONMF_DATA_HOME"])
    before = {one.name: one.stat().st_mtime_ns for one in folder.iterdir()}
    held = load_uci(name)
    assert {one.name: one.stat().st_mtime_ns for one in folder.iterdir()} == before
    assert held.X.dtype == np.float64
    assert type(held.X) is type(X)
    assert same(held.X, X)
    assert held.name == name
    assert "https://doi.org/10.24432/" in held.citation


@pytest.mark.parametrize(
    ("name", "counts"),
    [
        ("amazon-commerce-reviews", dict.fromkeys(range(50), 30)),
        ("arcene-train", {-1: 56, 1: 44}),
        ("mfeat-pix", dict.fromkeys(range(10), 200)),
    ],
)
def test_labels_have_the_known_counts(real_set, name, counts):
    real_set(name)
    labels, found = np.unique(load_uci(name).y, return_counts=True)
    assert dict(zip(labels.tolist(), found.tolist(), strict=True)) == counts


def test_words_beside_the_cache_are_names(real_set):
    X = real_set("bow-kos")
    held = load_uci("bow-kos")
    often = np.argsort(-X.sum(axis=0))[:4]
    assert {held.feature_names[column] for column in often} == {
        "bush",
        "kerry",
        "november",
        "poll",
    }
    assert len(load_uci("bow-nips").feature_names) == 12419
    assert held.y is None


def write_docword(X, folder, name):
    entries = X.tocoo()
    lines = [f"{size}\n" for size in (*X.shape, X.nnz)]
    parts = (entries.row + 1, entries.col + 1, entries.data.astype(int))
    for document, word, count in zip(*(part.tolist() for part in parts), strict=True):
        lines.append(f"{document} {word} {count}\n")
    with gzip.open(folder / f"docword.{name.removeprefix('bow-')}.txt.gz", "wt", 1) as file:
        file.writelines(lines)


def write_arcene(X, folder, name):
    np.savetxt(folder / "arcene_train.data", X, fmt="%d", newline=" \n")
    np.savetxt(folder / "arcene_train.labels", load_uci(name).y, fmt="%d")


def write_mfeat(X, folder, name):
    np.savetxt(folder / "mfeat-pix", X, fmt="%2d", newline=" \n")


def write_amazon(X, folder, name):
    with open(folder / "Amazon_initial_50_30_10000.arff", "w") as file:
        file.write("@relation reviews\n\n")
        file.writelines(f"@attribute 'word {i}' numeric\n" for i in range(X.shape[1]))
        file.write(f"@attribute class {{{','.join(f'Author{i}' for i in range(50))}}}\n\n@data\n")
        for i in range(X.shape[0]):
            cells = ["0"] * X.shape[1]
            for entry in range(X.indptr[i], X.indptr[i + 1]):
                cells[X.indices[entry]] = str(int(X.data[entry]))
            file.write(f"{','.join(cells)},Author{49 - i // 30}\n")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "write"),
    [
        pytest.param("amazon-commerce-reviews", write_amazon, marks=pytest.mark.slow),
        ("arcene-train", write_arcene),
        ("mfeat-pix", write_mfeat),
        ("bow-kos", write_docword),
        ("bow-nips", write_docword),
    ],
)
def test_a_set_written_in_its_original_format_is_read_to_the_same(real_set, tmp_path, name, write):
    X = real_set(name)
    write(X, tmp_path, name)
    parsed = load_uci(name, tmp_path)
    cached = load_uci(name, tmp_path)
    known = load_uci(name)
    for held in (parsed, cached):
        assert type(held.X) is type(X)
        assert same(held.X, X)
        assert (held.y is None) == (known.y is None)
        assert held.y is None or np.array_equal(held.y, known.y)
    home = Path(os.environ["ORTHONMF_DATA_HOME"])
    cache = CATALOG[name].cache_name
    with np.load(tmp_path / cache) as ours, np.load(home / cache) as theirs:
        values = "X" if "X" in theirs else "data"
        assert ours[values].dtype == theirs[values].dtype


def test_one_wrong_value_in_a_real_original_is_noticed(real_set, tmp_path):
    X = real_set("mfeat-pix")
    X[1000, np.flatnonzero(X[1000])[0]] += 1
    write_mfeat(X, tmp_path, "mfeat-pix")
    with pytest.raises(ValueError, match=r"its Frobenius norm is .*, not 2822\.0014"):
        load_uci("mfeat-pix", tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["mfeat-pix"]
