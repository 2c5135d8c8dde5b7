"""Lists of edges: which first lines are headers, and what is said about it."""

import numpy as np
import pytest

from orthonmf.files.readers import FileError, read_matrix

NAMES = (("ann", "bob", "eva"), ("e1", "e2"))
WORDS = "ann,e1\nbob,e1\nbob,e2\neva,e2\n"
NUMBERS = "1,10\n2,10\n2,20\n3,20\n"
TAKEN = ("first line taken as header; --no-header to keep it",)


def read(text, tmp_path, **options):
    path = tmp_path / "g.edges"
    path.write_text(text)
    return read_matrix(path, **options)


@pytest.mark.parametrize(
    "text",
    ["# a list\na x\nb y\n\na y\n", "a,x\nb,y\na,y\na,y\n", "p\tq\tw\na\tx\t2\nb\ty\t1\na\ty\t3\n"],
)
def test_lists_of_edges(text, tmp_path):
    data = read(text, tmp_path)
    assert np.array_equal(data.X.toarray() > 0, [[1, 1], [0, 1]])
    assert (data.row_names, data.column_names) == (("a", "b"), ("x", "y"))


@pytest.mark.parametrize(
    ("text", "why"),
    [("a b c d\n", "line 1: .* 4 cells"), ("a\tb\t1\na\tc\tx\n", "line 2"), ("", "empty")],
)
def test_lists_that_are_none(text, why, tmp_path):
    with pytest.raises(FileError, match=why):
        read(text, tmp_path)


@pytest.mark.parametrize("delimiter", [",", " "])
@pytest.mark.parametrize(
    ("body", "names"),
    [(WORDS, NAMES), (NUMBERS, (("1", "2", "3"), ("10", "20")))],
    ids=["words", "integers"],
)
def test_a_header_is_no_edge_and_a_note_says_so(body, names, delimiter, tmp_path):
    text = ("woman,event\n" + body).replace(",", delimiter)
    data = read(text, tmp_path)
    assert (data.row_names, data.column_names) == names
    assert data.notes == TAKEN
    assert np.array_equal(data.X.toarray(), [[1, 0], [1, 1], [0, 1]])
    asked = read(text, tmp_path, header=True)
    assert (asked.row_names, asked.notes) == (names[0], ())
    kept = read(text, tmp_path, header=False)
    assert kept.X.shape == (4, 3)
    assert kept.row_names[0] == "woman"
    assert kept.notes == ()


@pytest.mark.parametrize(
    "text",
    [
        WORDS,  # the first line shares a name with others
        NUMBERS,
        "ann,tea\nbob,milk\nbob,rum\n",  # too few lines to tell
        "ann,tea\nbob,milk\nbob,rum\ncid,rum\ndan,gin\n",  # so does the last
        "u1,i1\nu2,i2\nu2,i3\nu3,i3\n",  # names with numbers are no names of columns
        "ann,tea,1\nbob,milk,2\nbob,rum,1\ncid,rum,2\n",  # it has a weight
    ],
)
def test_a_first_edge_is_kept_without_a_note(text, tmp_path):
    data = read(text, tmp_path)
    assert data.X.nnz == text.count("\n")
    assert data.notes == ()


def test_a_semicolon_splits_where_names_hold_commas(tmp_path):
    data = read("Ann, Dr.;e1\nBob, Dr.;e1\n", tmp_path)
    assert data.row_names == ("Ann, Dr.", "Bob, Dr.")


@pytest.mark.parametrize(
    ("text", "columns"),
    [
        ("user,item,weight,when\nann,tea,3,9\nbob,tea,1,8\n", "user,item,weight"),
        ("when;weight;item;user\n9;3;tea;ann\n8;1;tea;bob\n", "user,item,weight"),
        ("9,3,tea,ann\n8,1,tea,bob\n", "3,2,1"),
        ('user,note,item,weight\nann,"a\nb",tea,3\nbob,,tea,1\n', "user,item,weight"),
    ],
)
def test_columns_of_a_longer_table_are_chosen_in_their_order(text, columns, tmp_path):
    data = read(text, tmp_path, columns=columns.split(","))
    assert (data.row_names, data.column_names) == (("ann", "bob"), ("tea",))
    assert np.array_equal(data.X.toarray(), [[3], [1]])


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        (None, "line 1: .*found 4 cells; say which .*--columns ROW,COLUMN,WEIGHT, of user, item"),
        (("user", "itme"), "no column 'itme'; did you mean item"),
        (("user",), "found 1 cells; say which"),
        (("user", "item", "when"), "line 3: .*found 3 cells"),
    ],
)
def test_columns_that_cannot_be_chosen(columns, why, tmp_path):
    with pytest.raises(FileError, match=why):
        read("user,item,weight,when\nann,tea,3,9\nbob,tea,1\n", tmp_path, columns=columns)
