"""What a newcomer's first files are answered with: what was done and what to do about it."""

import re

import numpy as np
import pytest

from orthonmf.cli.commands import load_command
from tests.cli.running import check_refused

OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
LONG = "user,item,rating\nann,tea,3\nbob,tea,1\nbob,milk,2\n"
# Files by name: their content, and what fit and bicluster say about them.
BAD = {
    "comma.csv": ("a;b;c\n1,5;2.5;1\n0;2,5;0\n", "decimal points", "decimal points"),
    "texts.csv": ("id,text\n1,the cat sat\n2,a dog ran\n", "TfidfVectorizer", None),
    "long4.csv": ("u,i,r,t\na,x,3,9\nb,x,1,8\n", "--columns u,i,r reads it", "--columns u,i,r"),
    "long.csv": (LONG, "a row, a column and a value, --format edges", None),
    "counts.csv": ("1,10,3\n2,10,1\n2,20,2\n", None, "use --format edges"),
    "empty.csv": ("1,,2\n3,4,5\n", "--missing leaves", "the cell is empty"),
    "sheet.xlsx": (b"PK\x03\x04", "no .xlsx file, or a damaged one", "damaged"),
    "sheet.ods": (b"PK\x03\x04", "save the sheet as .xlsx or .csv", "save the sheet as"),
    "model.pkl": (b"\x80\x04", "it could run code", "it could run code"),
    "odd.bin": (b"ab\0\0cd", "name its format with --format", "--format"),
}


@pytest.fixture
def files(tmp_path):
    for name, (content, *_) in BAD.items():
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    (tmp_path / "folder").mkdir()
    np.savez(tmp_path / "several.npz", a=np.eye(3), b=np.eye(2))
    np.save(tmp_path / "negative.npy", -np.eye(3))
    np.save(tmp_path / "nan.npy", np.full((3, 3), np.nan))
    return (*BAD, "folder", "several.npz", "negative.npy", "nan.npy")


@pytest.mark.parametrize("command", ["fit", "bicluster"])
def test_every_file_is_answered_with_what_to_do(command, files, run):
    for name, (_, *answers) in BAD.items():
        wanted = answers[command == "bicluster"]
        if wanted is not None:
            check_refused(run(command, name), wanted)


@pytest.mark.slow
def test_no_message_names_an_option_that_the_command_lacks(files, run, tmp_path):
    calls = {
        "fit": (), "select-k": ("--k", "1", "--repetitions", "1"), "bicluster": (),
        "certify": ("--labels", "comma.csv"), "transform": ("several.npz",),
    }  # fmt: skip
    for command, more in calls.items():
        params = load_command(command).params
        options = {name for option in params for name in (*option.opts, *option.secondary_opts)} | {
            "--help"
        }
        for name in files:
            done = run(command, *more, name)
            assert set(OPTION.findall(done.err)) <= options, (command, name, done.err)
    weights = run("fit", "counts.csv", "--sample-weight", "several.npz")
    assert "several arrays: a, b" in weights.err
    assert "--key" not in weights.err


def test_advice_of_the_library_is_given_in_options(tmp_path, run):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).random((40, 30)) + 1.0)
    note = run("fit", "x.npy", "-k", 4, "--orthogonal", "both", "--seed", 0).err
    assert "Try three factors, n_components=(4, 4) (-k 4,4)" in note
    np.save(tmp_path / "nan.npy", np.full((3, 3), np.nan))
    for command, remedy in (("fit", "--missing leaves"), ("select-k", "; fill them first")):
        done = run(command, "nan.npy")
        assert remedy in done.err
        assert "numpy" not in done.err
    np.save(tmp_path / "counts.npy", np.arange(6).reshape(2, 3))
    done = run("bicluster", "counts.npy")
    assert "--binarize T" in done.err
    assert "binarize=t" not in done.err


def test_negative_entries_of_an_h5ad_point_to_what_is_raw(tmp_path, run, blocks):
    h5py = pytest.importorskip("h5py")
    genes = np.array([f"g{i}".encode() for i in range(12)])
    with h5py.File(tmp_path / "x.h5ad", "w") as file:
        file["X"] = blocks[:, :5] - 1
        file["raw/X"] = blocks
        file["layers/counts"] = blocks[:, :5]
        file["raw/var/_index"] = genes
        file["elsewhere"] = h5py.ExternalLink("other.h5", "/X")
    done = run("fit", "x.h5ad", "--h5ad", "none")
    check_refused(done, "Negative values", "--key raw/X (or layers/counts)")
    done = run("fit", "x.h5ad", "-k", 3, "--key", "raw/X", "--h5ad", "none", code=0)
    assert "g1" in done.out
    with h5py.File(tmp_path / "x.h5ad", "a") as file:
        del file["raw"], file["layers"]
        file["raw"] = h5py.ExternalLink("other.h5", "/X")
    assert "--key" not in run("fit", "x.h5ad", "--h5ad", "none").err


def test_tables_of_row_column_and_value_are_recognized(tmp_path, run):
    (tmp_path / "long.csv").write_text(LONG)
    done = run("bicluster", "long.csv")
    assert done.out.startswith("long.csv: 2 rows, 2 columns")
    pairs = [(i, 10 * j) for i in range(1, 6) for j in range(1, 4)]
    lines = "".join(f"{i},{j},{i * j}\n" for i, j in pairs)
    (tmp_path / "numbers.csv").write_text("user,item,rating\n" + lines)
    done = run("fit", "numbers.csv", "-k", 2)
    assert (done.code, done.err.count("\n")) == (0, 1)
    assert "look like row, column and value" in done.err
    done = run("fit", "numbers.csv", "-k", 2, "--format", "edges", "-o", "e")
    assert "numbers.csv: 5 x 3" in done.out
