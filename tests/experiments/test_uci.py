"""The UCI sets: original files in their formats, the cache, a download, and what is refused."""

import gzip
import http.server
import io
import threading
import zipfile
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array

from experiments import uci
from experiments.uci import CATALOG, DataError, load_uci
from tests.arrays import to_array

SMALL = np.array([[1.0, 0.0, 3.0], [0.0, 5.0, 6.0]])
ARFF = "@relation r\n@attribute 'a,b' numeric\n@attribute b real\n@attribute c numeric\n"
ARFF += "@attribute class {x,'y z'}\n@data\n1,0,3,x\n0,5,6,'y z'\n"
DOCWORD = "2\n3\n4\n1 1 1\n1 3 3\n2 2 5\n2 3 6\n"
FILES = {
    "amazon-commerce-reviews": ARFF.encode(),
    "arcene-train": b"1 0 3 \n0 5 6 \n",
    "mfeat-pix": b" 1  0  3\n 0  5  6\n",
    "pems-train": b"[1 0 3]\n[0 5;6]\n",
    "bow-kos": gzip.compress(DOCWORD.encode()),
}


@pytest.fixture(autouse=True)
def small_sets(monkeypatch):
    """The catalog, with what is known of a matrix of two rows."""
    norm = float(np.linalg.norm(SMALL))
    for name, entry in CATALOG.items():
        small = replace(entry, shape=(2, 3), nonzeros=4, norm=norm)
        monkeypatch.setitem(CATALOG, name, small)
    monkeypatch.delenv(uci.HOME_VARIABLE, raising=False)


@pytest.mark.parametrize("name", FILES)
def test_originals_are_read_verified_and_cached(name, tmp_path):
    original = tmp_path / CATALOG[name].file
    original.write_bytes(FILES[name])
    first = load_uci(name, tmp_path)
    original.unlink()
    again = load_uci(name, tmp_path)  # from the cache alone
    for X in (first, again):
        assert X.dtype == np.float64
        assert isinstance(X, csr_array) == (name in ("amazon-commerce-reviews", "bow-kos"))
        np.testing.assert_array_equal(to_array(X), SMALL)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"1 0 3\n0 5 7\n", "Frobenius norm is 9.1.* not"),
        (b"1 0 3\n", "its shape is"),
        (b"1 0 x\n0 5 6\n", "cannot be read"),
    ],
)
def test_what_is_not_the_set_is_refused_with_its_file(content, message, tmp_path):
    (tmp_path / "mfeat-pix").write_bytes(content)
    with pytest.raises(DataError, match=f"mfeat-pix: .*{message}"):
        load_uci("mfeat-pix", tmp_path)
    assert not (tmp_path / "mfeat_pix.npz").exists()
    assert (tmp_path / "mfeat-pix").exists()


def test_damaged_caches_and_cut_files_are_told(tmp_path):
    (tmp_path / "mfeat_pix.npz").write_bytes(b"PK nothing")
    with pytest.raises(DataError, match=r"mfeat_pix\.npz is damaged"):
        load_uci("mfeat-pix", tmp_path)
    parts = {"data": [1.0], "indices": [7], "indptr": [0, 1, 1], "shape": (2, 3)}
    np.savez(tmp_path / "bow_kos.npz", **parts)
    with pytest.raises(DataError, match=r"bow_kos\.npz is damaged"):
        load_uci("bow-kos", tmp_path)
    (tmp_path / "bow_kos.npz").unlink()
    (tmp_path / "docword.kos.txt.gz").write_bytes(gzip.compress(DOCWORD[:-6].encode()))
    with pytest.raises(DataError, match="3 of 4 entries"):
        load_uci("bow-kos", tmp_path)
    with pytest.raises(DataError, match="no set is called 'kos'; there are"):
        load_uci("kos", tmp_path)


@pytest.mark.slow
def test_a_download_is_read_from_an_archive_inside_an_archive(tmp_path, monkeypatch):
    pytest.importorskip("pooch")
    served, home = tmp_path / "served", tmp_path / "home"
    served.mkdir()
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("folder/PEMS_train", FILES["pems-train"])
    with zipfile.ZipFile(served / "sets.zip", "w") as archive:
        archive.writestr("inner.zip", inner.getvalue())
    quiet = type("Quiet", (http.server.SimpleHTTPRequestHandler,), {"log_message": lambda *_: None})
    handler = partial(quiet, directory=str(served))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/sets.zip"
        served_entry = replace(CATALOG["pems-train"], address=url)
        monkeypatch.setitem(CATALOG, "pems-train", served_entry)
        np.testing.assert_array_equal(load_uci("pems-train", home), SMALL)
        assert sorted(path.name for path in home.iterdir()) == ["pems_train.npz"]
        (home / "pems_train.npz").unlink()
        (served / "sets.zip").unlink()
        with pytest.raises(DataError, match="PEMS_train could not be had from http") as caught:
            load_uci("pems-train", home)
        assert f"put it into {home}" in str(caught.value)
        server.shutdown()


def test_the_sets_that_are_there_are_the_known_ones(real_set, monkeypatch):
    monkeypatch.undo()  # the whole sets again
    for name in set(CATALOG) - {"pems-train"}:
        X, loaded = real_set(name), load_uci(name)
        assert isinstance(loaded, csr_array) == (name not in ("arcene-train", "mfeat-pix"))
        assert abs(loaded - X).max() == 0
