"""From originals put into the folder or downloaded to a verified cache, and nothing in halves."""

import gzip
import io
import os
import socket
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from scipy.sparse import csr_array, load_npz

from orthonmf.datasets import load_uci
from orthonmf.datasets.uci import DownloadError
from orthonmf.datasets.uci.arff import read_arff
from orthonmf.datasets.uci.bracketed import read_label_list, read_matrices
from orthonmf.datasets.uci.cache import smallest
from orthonmf.datasets.uci.catalog import CATALOG, Entry, Original
from orthonmf.datasets.uci.docword import read_docword
from orthonmf.datasets.uci.fetch import fetch
from orthonmf.errors import InvalidInputError, MissingExtraError, OrthoNMFError
from orthonmf.files.readers import FileError

WORDS = np.array([[0, 7, 0, 1], [1, 0, 0, 0], [2, 0, 300, 0]])
DOCWORD = gzip.compress(b"3\n4\n5\n1 2 7\n1 4 1\n2 1 1\n3 1 2\n3 3 300\n", mtime=0)
OTHER = gzip.compress(b"3\n4\n4\n1 2 7\n1 4 1\n2 1 1\n3 1 2\n", mtime=0)
DAYS = np.array([[0.0123, 0.5, 1, 0, 0.25, 0.125], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
DAYS_TEXT = "[0.0123 0.5 1;0 0.25 0.125]\n[0.1 0.2 0.3;0.4 0.5 0.6]\n"
NOWHERE = "http://127.0.0.1:9"  # the port of the discard service, where nobody listens


def bag(base=NOWHERE, **changes):
    """A bag of words as small as it gets."""
    known = {"shape": (3, 4), "nonzeros": 5, "norm": float(np.linalg.norm(WORDS))}
    return Entry(
        name="bow-tiny",
        description="words",
        citation="nobody",
        data=Original("docword.tiny.txt.gz", f"{base}/docword.tiny.txt.gz"),
        read=read_docword,
        words=Original("vocab.tiny.txt", f"{base}/vocab.tiny.txt"),
        **(known | changes),
    )


def days(base=NOWHERE):
    """Two days of two sensors, of which only the shape is known."""
    return Entry(
        name="days-tiny",
        description="days",
        citation="nobody",
        shape=(2, 6),
        nonzeros=None,
        norm=None,
        data=Original("DAYS", f"{base}/days.zip"),
        read=partial(read_matrices, matrix_rows=2),
        labels=Original("DAYS_labels", f"{base}/days.zip"),
        read_labels=read_label_list,
    )


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A folder and the address under which it is served."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    folder = tmp_path / "served"
    folder.mkdir()
    asked = []

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, form, *arguments):
            asked.append(self.path)

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=folder)) as serving:
        threading.Thread(target=serving.serve_forever, args=(0.01,), daemon=True).start()
        yield folder, f"http://127.0.0.1:{serving.server_port}", asked
        serving.shutdown()


@pytest.fixture
def home(tmp_path):
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


def names(folder):
    return sorted(one.name for one in folder.iterdir())


def test_originals_in_the_folder_are_read_verified_and_cached(home):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    (home / "vocab.tiny.txt").write_text("ant\nbee\ncat\ndog\n")
    first = fetch(bag(), home)
    assert names(home) == ["bow_tiny.npz", "docword.tiny.txt.gz", "vocab.tiny.txt"]
    for original in ("docword.tiny.txt.gz", "vocab.tiny.txt"):
        (home / original).unlink()
    second = fetch(bag(), home)
    for content in (first, second):
        assert np.array_equal(content.X.toarray(), WORDS)
        assert content.X.dtype == np.uint16
        assert content.feature_names == ("ant", "bee", "cat", "dog")
        assert content.y is None
    assert np.array_equal(load_npz(home / "bow_tiny.npz").toarray(), WORDS)


def test_words_are_optional_and_found_later(home):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    assert fetch(bag(), home).feature_names is None
    (home / "vocab.tiny.txt").write_text("ant\nbee\ncat\ndog\n")
    assert fetch(bag(), home).feature_names == ("ant", "bee", "cat", "dog")
    (home / "vocab.tiny.txt").write_text("ant\nbee\n")
    with pytest.raises(FileError, match=r"vocab.tiny.txt: it holds 2 names for 4 columns"):
        fetch(bag(), home)


def test_fractions_and_labels_are_kept_exactly(home):
    (home / "DAYS").write_text(DAYS_TEXT)
    (home / "DAYS_labels").write_text("[7 1]\n")
    fetch(days(), home)
    content = fetch(days(), home)
    assert content.X.dtype == np.float64
    assert np.array_equal(content.X, DAYS)
    assert content.y.tolist() == [7, 1]


def test_names_of_attributes_are_cached(home):
    text = "@relation r\n@attribute a numeric\n@attribute 'b c' numeric\n@attribute class {u,v}\n"
    (home / "x.arff").write_text(text + "@data\n1,0,v\n0,2,u\n")
    entry = Entry("x-y", "", "", (2, 2), 2, 5**0.5, Original("x.arff", NOWHERE), read_arff)
    fetch(entry, home)
    (home / "x.arff").unlink()
    content = fetch(entry, home)
    assert isinstance(content.X, csr_array)
    assert content.feature_names == ("a", "b c")
    assert content.y.tolist() == [0, 1]


def test_a_file_that_belongs_to_the_other_is_missed(home):
    (home / "DAYS").write_text(DAYS_TEXT)
    with pytest.raises(FileError, match="DAYS_labels: it is missing"):
        fetch(days(), home)
    assert names(home) == ["DAYS"]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"nonzeros": 6}, "it has 5 non-zeros, not 6"),
        ({"norm": 300.2}, "its Frobenius norm is 300.0916[0-9]*, not 300.2"),
        ({"shape": (3, 5)}, "line 2: it declares 4 words instead of 5"),
    ],
)
def test_an_original_that_differs_is_refused_and_left(home, changes, message):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    with pytest.raises(FileError, match=message) as caught:
        fetch(bag(**changes), home)
    assert str(home / "docword.tiny.txt.gz") in str(caught.value)
    assert names(home) == ["docword.tiny.txt.gz"]


def test_a_truncated_original_leaves_no_cache(home):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD[:-6])
    with pytest.raises(FileError, match=r"docword.tiny.txt.gz: line \d: "):
        fetch(bag(), home)
    assert names(home) == ["docword.tiny.txt.gz"]


def test_an_interrupted_cache_is_not_there(home, monkeypatch):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)

    def full(file, **arrays):
        file.write(b"PK")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez_compressed", full)
    with pytest.raises(OSError, match="No space"):
        fetch(bag(), home)
    assert names(home) == ["docword.tiny.txt.gz"]


def damage_half(path):
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def damage_values(path):
    np.savez(path, X=WORDS + 1)


def damage_shape(path):
    np.savez(path, X=WORDS.T)


def damage_labels(path):
    np.savez(path, X=WORDS, y=np.arange(2))


def damage_with_objects(path):
    np.savez(path, X=WORDS.astype(object))


def damage_labels_with_objects(path):
    np.savez(path, X=WORDS, y=np.array([1, None, 2], dtype=object))


@pytest.mark.parametrize(
    ("damage", "message"),
    [
        (damage_half, "no .npz archive, or a damaged one"),
        (damage_values, "it has 12 non-zeros, not 5, its Frobenius norm is"),
        (damage_shape, "its shape is 4 x 3, not 3 x 4"),
        (damage_labels, "its labels are not 3 whole numbers"),
        (damage_with_objects, "object"),
        (damage_labels_with_objects, "the labels are damaged"),
    ],
)
def test_a_damaged_cache_is_named_with_the_remedy(home, damage, message):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    fetch(bag(), home)
    cache = home / "bow_tiny.npz"
    damage(cache)
    with pytest.raises(FileError, match=message) as caught:
        fetch(bag(), home)
    assert str(cache) in str(caught.value)
    assert "delete the file and load the set again" in str(caught.value)
    cache.unlink()
    assert np.array_equal(fetch(bag(), home).X.toarray(), WORDS)


def test_a_download_becomes_a_cache_and_is_not_kept(server, home):
    served, address, asked = server
    (served / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    (served / "vocab.tiny.txt").write_text("ant\nbee\ncat\ndog\n")
    folder = home / "made" / "on the way"
    content = fetch(bag(address), folder)
    assert np.array_equal(content.X.toarray(), WORDS)
    assert content.feature_names == ("ant", "bee", "cat", "dog")
    assert names(folder) == ["bow_tiny.npz"]
    assert asked == ["/docword.tiny.txt.gz", "/vocab.tiny.txt"]
    assert fetch(bag(address), folder).feature_names == ("ant", "bee", "cat", "dog")
    assert len(asked) == 2


@pytest.mark.parametrize("inner", [False, True])
def test_files_are_found_in_a_zip_that_is_downloaded_once(server, home, inner):
    served, address, asked = server
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("folder/DAYS", DAYS_TEXT)
        archive.writestr("folder/DAYS_labels", "[7 1]\n")
    if inner:
        with zipfile.ZipFile(served / "days.zip", "w") as archive:
            archive.writestr("readme.txt", "see inside")
            archive.writestr("days.zip", held.getvalue())
    else:
        (served / "days.zip").write_bytes(held.getvalue())
    content = fetch(days(address), home)
    assert np.array_equal(content.X, DAYS)
    assert content.y.tolist() == [7, 1]
    assert asked == ["/days.zip"]
    assert names(home) == ["days_tiny.npz"]


def test_a_download_that_differs_is_deleted_and_said(server, home):
    served, address, _ = server
    (served / "docword.tiny.txt.gz").write_bytes(OTHER)
    (served / "vocab.tiny.txt").write_text("ant\nbee\ncat\ndog\n")
    with pytest.raises(FileError, match="it has 4 non-zeros, not 5") as caught:
        fetch(bag(address), home)
    assert f"came from {address}/docword.tiny.txt.gz and has been deleted" in str(caught.value)
    assert names(home) == []
    (served / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    assert np.array_equal(fetch(bag(address), home).X.toarray(), WORDS)


def test_a_download_that_is_a_page_is_refused_at_its_first_line(server, home):
    served, address, _ = server
    (served / "docword.tiny.txt.gz").write_text("<!doctype html>\n<p>moved\n")
    (served / "vocab.tiny.txt").write_text("")
    with pytest.raises(FileError, match=r"^docword.tiny.txt.gz: line 1: .*has been deleted"):
        fetch(bag(address), home)
    assert names(home) == []


@pytest.mark.parametrize("content", [None, b"no archive", b""])
def test_a_failed_download_says_where_to_put_the_file(server, home, content):
    served, address, _ = server
    if content is not None:
        (served / "days.zip").write_bytes(content)
    with pytest.raises(DownloadError) as caught:
        fetch(days(address), home)
    assert isinstance(caught.value, OSError)
    assert isinstance(caught.value, OrthoNMFError)
    message = str(caught.value)
    assert message.startswith(f"DAYS could not be had from {address}/days.zip: ")
    assert f"put it into {home} under this name" in message
    assert ("404" in message.replace(address, "")) == (content is None)  # which has a port
    assert names(home) == []


def test_an_archive_without_the_file_says_what_it_holds(server, home):
    served, address, _ = server
    with zipfile.ZipFile(served / "days.zip", "w") as archive:
        archive.writestr("something.rar", "")
    with pytest.raises(DownloadError, match=r"does not hold DAYS; it holds something\.rar"):
        fetch(days(address), home)
    assert names(home) == []


def test_a_machine_that_does_not_answer_is_a_failed_download(home, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))  # bound, but nobody listens
        address = f"http://127.0.0.1:{held.getsockname()[1]}"
        with pytest.raises(DownloadError, match=f"could not be had from {address}"):
            fetch(bag(address), home)
    assert names(home) == []


def test_a_folder_that_cannot_be_written_is_refused_before_any_work(home):
    (home / "file").write_text("")
    with pytest.raises(InvalidInputError, match="nothing can be written there") as caught:
        fetch(bag(), home / "file")
    assert "ORTHONMF_DATA_HOME" in str(caught.value)


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may write anywhere")
def test_a_read_only_folder_serves_its_cache_and_nothing_else(home):
    (home / "docword.tiny.txt.gz").write_bytes(DOCWORD)
    fetch(bag(), home)
    home.chmod(0o555)
    try:
        assert np.array_equal(fetch(bag(), home).X.toarray(), WORDS)
        with pytest.raises(InvalidInputError, match="nothing can be written there"):
            fetch(days(), home)
    finally:
        home.chmod(0o755)


def test_small_types():
    assert smallest(np.array([0.0, 255.0])).dtype == np.uint8
    assert smallest(np.array([0, 256])).dtype == np.uint16
    assert smallest(np.array([-1, 1])).dtype == np.int8
    assert smallest(np.array([-1, 128])).dtype == np.int16
    assert smallest(np.array([0.5])).dtype == np.float64


def test_names_are_checked_and_the_variable_is_heard(home, monkeypatch):
    with pytest.raises(InvalidInputError, match="'pems-train', 'bow-kos', 'bow-nips'; got 'kos'"):
        load_uci("kos")
    np.savez(home / "mfeat_pix.npz", X=WORDS)
    monkeypatch.setenv("ORTHONMF_DATA_HOME", str(home))
    with pytest.raises(FileError, match=r"mfeat_pix\.npz: this is not mfeat-pix: its shape"):
        load_uci("mfeat-pix")
    with pytest.raises(InvalidInputError, match=r"^bow_kos\.npz is not in "):
        load_uci("bow-kos", data_home=home / "mfeat_pix.npz")


def test_pems_is_read_with_its_own_sizes_and_judged_by_its_shape_alone(home):
    entry = replace(CATALOG["pems-train"], shape=(3, 138672))  # three days are enough here
    rng = np.random.default_rng(0)
    rows = np.round(rng.random((3, 144)), 4)
    line = "[" + ";".join(" ".join(f"{v:g}" for v in rows[i % 3]) for i in range(963)) + "]\n"
    with open(home / "PEMS_train", "w") as file:
        file.writelines([line] * 3)
    (home / "PEMS_trainlabels").write_text("[7 1 2]\n")
    held = fetch(entry, home)
    assert held.X.shape == (3, 138672)
    assert np.array_equal(held.X[2], np.tile(rows, (321, 1)).ravel())
    assert held.y.tolist() == [7, 1, 2]
    assert CATALOG["pems-train"].shape == (267, 138672)
    assert entry.norm is None
    assert entry.nonzeros is None


@pytest.mark.slow
def test_pooch_is_imported_for_a_download_only(home):
    program = (
        "import sys, orthonmf; from orthonmf.datasets import load_uci\n"
        "assert 'pooch' not in sys.modules\n"
        "sys.modules['pooch'] = None\n"
        "load_uci('bow-kos', sys.argv[1])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(home)], capture_output=True, text=True, check=False
    )
    assert done.stderr.splitlines()[-1] == (
        f"{MissingExtraError.__module__}.MissingExtraError: this needs pooch, which is not "
        "installed: pip install pooch; the extra 'data' of orthonmf brings it"
    )
    assert names(home) == []
