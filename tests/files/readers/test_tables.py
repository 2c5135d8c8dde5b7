"""Tables as people save them: read when there is one way to read them, refused with the remedy."""

import numpy as np
import pytest

from orthonmf.files.readers import FileError, read_matrix

COMMAS = "numbers have a decimal comma: 1,5 was read as 1.5"
# Content, then X, names of rows and of columns, and the note that is told, if any.
READ = {
    "semicolons and decimal commas": (
        "Stadt;Umsatz;Kosten\nBonn;1,5;2\nUlm;3;4,25\n", [[1.5, 2], [3, 4.25]],
        ("Bonn", "Ulm"), ("Umsatz", "Kosten"), COMMAS,
    ),
    "decimal commas in quotes": (
        '"a","b"\n"1,5","2,25"\n', [[1.5, 2.25]],
        None, ("a", "b"), COMMAS,
    ),
    "decimal commas and exponents": ("1,5e-3;2\n", [[0.0015, 2]], None, None, COMMAS),
    "commas in names": (
        "n;a\nBonn, West;1\nUlm;2\n", [[1], [2]],
        ("Bonn, West", "Ulm"), ("a",), "",
    ),
    "semicolons in names": ("x;y,1,2\nz;u,3,4\n", [[1, 2], [3, 4]], ("x;y", "z;u"), None, ""),
    "a title, padded": (
        "Sales,,\n,,\nCity,Jan,Feb\nParis,1,2\n", [[1, 2]],
        ("Paris",), ("Jan", "Feb"), "left out above the table: 'Sales'",
    ),
    "a title with a comma": (
        "Sales, Europe\nCity,Jan,Feb,Mar\nParis,1,2,3\nRome,1,2,3\n", [[1, 2, 3], [1, 2, 3]],
        ("Paris", "Rome"), ("Jan", "Feb", "Mar"), "left out above the table: 'Sales  Europe'",
    ),
    "a spreadsheet's hint": (
        "sep=;\nn;a;b\nx;1;2\n", [[1, 2]],
        ("x",), ("a", "b"), "left out above the table: 'sep='",
    ),
    "old line ends": ("n,a\rx,1\rz,3\r", [[1], [3]], ("x", "z"), ("a",), ""),
    "lines in a name": ('n,a\n"x\ny",1\nz,2\n', [[1], [2]], ("x\ny", "z"), ("a",), ""),
    "empty lines of cells": ("a,b\n1,2\n,\n3,4\n", [[1, 2], [3, 4]], None, ("a", "b"), ""),
    "one line": ("5,6\n", [[5, 6]], None, None, ""),
    "large whole numbers": (
        "9007199254740993,12345678901234567890123\n",
        [[9007199254740992.0, 1.2345678901234568e+22]],
        None, None, "",
    ),
}  # fmt: skip

# Content, names of rows and of columns, where X is [[1, 2], [3, 4]].
PLAIN = {
    "plain": ("1,2\n3,4\n", None, None),
    "header": ("a,b\n1,2\n3,4\n", None, ("a", "b")),
    "pandas": (",a,b\nr,1,2\ns,3,4\n", ("r", "s"), ("a", "b")),
    "numbered": (",a,b\n0,1,2\n1,3,4\n", ("0", "1"), ("a", "b")),
    "only index": ("r,1,2\ns,3,4\n", ("r", "s"), None),
    "r style": ("a\tb\nr\t1\t2\ns\t3\t4\n", ("r", "s"), ("a", "b")),
    "blank lines": ("\n\na,b\n\n1,2\n\n3,4\n\n", None, ("a", "b")),
    "tab": ("a\tb\n1\t2\n3\t4\n", None, ("a", "b")),
    "quoted": ('"a, or ""so""",b\n1,2\n3,4\n', None, ('a, or "so"', "b")),
    "bom": ("\ufeffa,b\n1,2\n3,4\n", None, ("a", "b")),
    "spaces": (" a , b \n 1 , 2 \n 3, 4\n", None, ("a", "b")),
}
READ |= {
    name: (text, [[1, 2], [3, 4]], rows, columns, "")
    for name, (text, rows, columns) in PLAIN.items()
}


@pytest.mark.parametrize("name", READ)
def test_it_is_read_and_told(name, tmp_path):
    text, X, rows, columns, note = READ[name]
    path = tmp_path / "x.csv"
    path.write_text(text, encoding="utf-8", newline="")
    data = read_matrix(path)
    assert np.array_equal(data.X, X)
    assert (data.row_names, data.column_names) == (rows, columns)
    assert data.notes == ((note,) if note else ())


REFUSED = {
    **{
        f"a cell {cell!r}": (
            f'City,share,n\nParis,"{cell}",3\n',
            r"\('share'\): .* plain numbers: .*",
        )
        for cell in ("12%", "$5", "1,234.5", "1.234,5", "1 234", "True", "1_000")
    },
    "thousands or decimals": ("a;b\n1,234;5,678\n", r"line 2: column 1 \('a'\): '1,234' .*decimal"),
    "points and commas": ("a;b\n1,5;2.5\n", "'1,5' is no number; .*decimal points"),
    "a late comma": ("a;b\n" + "1.5;2\n" * 40 + "1,5;3\n", "line 42: .*decimal points"),
    "a column of decimals": ("x\n5,5\n6,1\n", "line 2: '5,5' may be a number with a decimal comma"),
    "a dash": ("a,b\n1,-\n", r"'-' is no number; --missing leaves such cells out"),
    "words": (
        "id,City,Land,x\n1,Paris,F,2\n2,Rome,I,4\n",
        r"'Paris' .*--drop City,Land leaves columns",
    ),
    "a name of two words": ("id,Home Town,x\n1,Bonn,2\n", r"--drop 'Home Town' leaves"),
    "blanks": ("1 2 3\n4 5 6\n", r"there is one column: put commas, semicolons or tabs"),
    "NUL": ("a,b\n1,2\x003\n", r"line 2: column 2 .*UTF-16"),
    "an open quote": ('a,b\n1,2\n3,"4\n5,6\n', r"line 3: it cannot be split into cells"),
    "lines in a name": ('n,a\n"x\ny",1\nz,two\n', r"line 4: column 2"),
    "a word below empty lines": (
        "\n\na,b\n1,2\n\n3,four\n",
        r"line 6: column 2 \('b'\): 'four' is no number",
    ),
    "a line in the middle": (
        "a,b\r\n1,2\r\n\r\n3\r\n",
        r"line 4: it has 1 cells, the lines above 2",
    ),
    "a huge exponent": ("1,2\n3,1e309\n", r"line 2: column 2: 1e309 must be finite"),
    "minus": ("1,2\n3,-0.5\n", r"line 2: column 2: -0.5 must be finite and not negative"),
    "only a header": ("a,b\n", r"line 1: there is a header and nothing below it"),
    "nothing": ("", "the file is empty"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_it_is_refused_with_place_and_remedy(name, tmp_path):
    text, why = REFUSED[name]
    path = tmp_path / "x.csv"
    path.write_text(text, newline="")
    with pytest.raises(FileError, match=rf"x\.csv: .*({why})"):
        read_matrix(path)


@pytest.mark.parametrize("text", ["1\n2\n", "a\n1\n2\n"])
def test_a_column_of_names_alone_is_no_table(text, tmp_path):
    (tmp_path / "x.csv").write_text(text)
    with pytest.raises(FileError, match=r"x\.csv: line \d: the only column holds the names"):
        read_matrix(tmp_path / "x.csv", index=True)


def test_a_short_line_is_no_missing_value(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("a,b\n1,2\n3\n")
    with pytest.raises(FileError, match="line 3: it has 1 cells"):
        read_matrix(path, allow_missing=True)


@pytest.mark.parametrize("cell", ["", "-", "nan", "#N/A", " NULL ", "?"])
def test_missing_cells_are_left_out_where_they_may_be(cell, tmp_path):
    path = tmp_path / "x.csv"
    path.write_text(f"n,a,b\nNA,1,{cell}\ny,2,3\n")
    data = read_matrix(path, allow_missing=True)
    assert np.array_equal(data.X, [[1, np.nan], [2, 3]], equal_nan=True)
    assert data.row_names == ("NA", "y")


@pytest.mark.parametrize(("encoding", "remedy"), [("latin-1", "cp1252"), ("utf-16", "utf-16")])
def test_other_encodings_are_told_and_read(encoding, remedy, tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("Städte,a,b\nKöln,1,2\n".encode(encoding))
    with pytest.raises(FileError, match=f"CSV UTF-8.*--encoding {remedy}"):
        read_matrix(path)
    assert read_matrix(path, encoding=encoding).row_names == ("Köln",)
    with pytest.raises(FileError, match="unknown encoding"):
        read_matrix(path, encoding="none-such")


@pytest.fixture
def sheet(tmp_path):
    openpyxl = pytest.importorskip("openpyxl")

    def write(*rows, name="x.xlsx"):
        book = openpyxl.Workbook()
        for row in rows:
            book.active.append(row)
        book.create_sheet("Other").append([7, 8])
        book.save(tmp_path / name)
        return tmp_path / name

    return write


def test_a_sheet_is_read_like_a_table(sheet):
    path = sheet(["Report"], [], ["City", "Jan", "Feb"], ["Paris", 1, 0.1], ["Rome", 3, None])
    data = read_matrix(path, allow_missing=True)
    assert np.array_equal(data.X, [[1, 0.1], [3, np.nan]], equal_nan=True)
    assert (data.row_names, data.column_names) == (("Paris", "Rome"), ("Jan", "Feb"))
    with pytest.raises(FileError, match=r"x\.xlsx: line 5: column 3 \('Feb'\): the cell is empty"):
        read_matrix(path)
    assert np.array_equal(read_matrix(path, key="Other").X, [[7, 8]])
    with pytest.raises(FileError, match="no sheet 'Otter'; there are Sheet, Other"):
        read_matrix(path, key="Otter")


def test_a_sheet_with_a_cell_far_away_takes_no_memory(sheet, tmp_path):
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    book.active["XFD1048576"] = 1
    book.save(tmp_path / "far.xlsx")
    with pytest.raises(FileError, match=r"the sheet.* would take"):
        read_matrix(tmp_path / "far.xlsx", max_bytes=2**24)


def test_many_lines_are_read_as_few(tmp_path):
    X = np.random.default_rng(0).random((60_000, 12))
    path = tmp_path / "x.csv"
    path.write_text("".join(",".join(map(repr, row)) + "\n" for row in X.tolist()))
    assert path.stat().st_size > 2**23
    assert np.array_equal(read_matrix(path).X, X)
    with open(path, "a") as file:
        file.write("1," * 11 + "x\n")
    with pytest.raises(FileError, match="line 60001: column 12: 'x'"):
        read_matrix(path)
