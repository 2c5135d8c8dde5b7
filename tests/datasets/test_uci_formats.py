"""Small files in the exact original formats are read; broken ones are refused with their line."""

import gzip
from functools import partial

import pytest
from scipy.sparse import csr_array

from orthonmf.datasets.uci.arff import read_arff
from orthonmf.datasets.uci.bracketed import read_label_list, read_matrices
from orthonmf.datasets.uci.docword import read_docword
from orthonmf.datasets.uci.lines import read_labels, read_rows
from orthonmf.files.readers import FileError
from orthonmf.files.readers.record import Request

DOCWORD = "3\n4\n5\n1 2 7\n1 4 1\n2 1 1\n3 1 2\n3 3 300\n"
ROWS = "0 71 0 95 \n6 0 5 12 \n"  # arcene_train.data: a space at the end of every line
PADDED = " 0  3  4 \n 6  0  5 \n"  # mfeat-pix: values padded to a width
DAYS = "[0.0123 0.5 1;0 0.25 0.125]\n[0.1 0.2 0.3;0.4 0.5 0.6]\n"
ARFF = """% reviews and their authors
@relation 'three authors'

@attribute the numeric
@attribute 'don\\'t' real
@attribute "{" integer
@attribute class {Ann,'O, Brien',"Zoe B"}

@data
3,0,1,Ann
% a remark among the rows
0,0,2,"Zoe B"
0,4,0,'O, Brien'
1,0,0,Ann
"""


@pytest.fixture
def reading(tmp_path):
    """Read a text (or bytes) with a reader as if it were a file called ``original``."""

    def read(reader, text, *arguments):
        path = tmp_path / "original"
        path.write_bytes(text.encode() if isinstance(text, str) else text)
        return reader(Request(path, "original", max_bytes=10**6), *arguments)

    return read


def packed(text):
    return gzip.compress(text.encode(), mtime=0)


def cut(text, n_lines):
    return "".join(text.splitlines(keepends=True)[:n_lines])


def test_docword_is_a_sparse_table_of_counts(reading):
    expected = [[0, 7, 0, 1], [1, 0, 0, 0], [2, 0, 300, 0]]
    for text in (packed(DOCWORD), DOCWORD, DOCWORD + "\n\n"):
        X = reading(read_docword, text, (3, 4)).X
        assert isinstance(X, csr_array)
        assert X.nnz == 5
        assert X.toarray().tolist() == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cut(DOCWORD, 6), "line 6: .*after 3 of 5 entries"),
        (cut(DOCWORD, 3), "line 3: .*after 0 of 5 entries"),
        (cut(DOCWORD, 2), "line 3: the number of entries is missing"),
        ("", "line 1: the number of documents is missing"),
        (DOCWORD + "3 4 1\n", "line 9: there are more than the 5 entries"),
        (DOCWORD.replace("\n5\n", "\n-5\n", 1), "line 4: there are more than the -5"),
        (DOCWORD.replace("2 1 1", "2 1"), "line 6: it holds 2 values instead of 3"),
        (DOCWORD.replace("2 1 1", ""), "line 6: it holds 0 values instead of 3"),
        (DOCWORD.replace("2 1 1", "2 x 1"), "line 6: whole numbers .*'x'"),
        (DOCWORD.replace("2 1 1", "2 1 1.5"), "line 6: whole numbers .*'1.5'"),
        (DOCWORD.replace("2 1 1", "0 1 1"), "line 6: document 0 is not among 1 to 3"),
        (DOCWORD.replace("2 1 1", "4 1 1"), "line 6: document 4 is not among 1 to 3"),
        (DOCWORD.replace("2 1 1", "2 5 1"), "line 6: word 5 is not among 1 to 4"),
        (DOCWORD.replace("2 1 1", "2 1 0"), "line 6: the count 0 is not positive"),
        (DOCWORD.replace("3 3 300", "1 4 2"), "line 8: word 4 of document 1 .* second time"),
        ("9" + DOCWORD[1:], "line 1: it declares 9 documents instead of 3"),
        ("3\n9" + DOCWORD[3:], "line 2: it declares 9 words instead of 4"),
    ],
)
def test_a_broken_docword_is_refused_with_its_line(reading, text, message):
    with pytest.raises(FileError, match=f"^original: {message}"):
        reading(read_docword, packed(text), (3, 4))


def test_a_damaged_packed_file_is_refused_with_the_last_good_line(reading):
    long = "".join(f"{i} 1 1\n" for i in range(1, 20001))
    whole = packed("20000\n4\n20000\n" + long)
    for wrong in (whole[: len(whole) // 2], whole[:-4], whole[:-8] + b"12345678"):
        with pytest.raises(FileError, match=r"^original: line \d+: the packed file is damaged"):
            reading(read_docword, wrong, (20000, 4))
    with pytest.raises(FileError) as caught:
        reading(read_docword, whole[: len(whole) // 2], (20000, 4))
    last_good = int(str(caught.value).split()[2].rstrip(":"))
    assert 3 < last_good < 20003


def test_rows_of_numbers_with_any_spaces(reading):
    assert reading(read_rows, ROWS, (2, 4)).X.tolist() == [[0, 71, 0, 95], [6, 0, 5, 12]]
    assert reading(read_rows, PADDED, (2, 3)).X.tolist() == [[0, 3, 4], [6, 0, 5]]
    assert reading(read_rows, PADDED.replace("\n", "\r\n"), (2, 3)).X.shape == (2, 3)
    assert reading(read_labels, "1\n-1\n", 2).tolist() == [1, -1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cut(ROWS, 1), "line 1: the file ends here, after 1 of 2 rows"),
        ("", "line 0: the file ends here, after 0 of 2 rows"),
        (ROWS[:-6], "line 2: it holds 2 values instead of 4"),
        (ROWS + "1 1 1 1\n", "line 3: there are more than 2 rows"),
        (ROWS.replace("5", "5,"), "line 1: '95,' is no number"),
        (ROWS.replace("12", "-12"), "line 2: '-12' is not usable"),
        (ROWS.replace("12", "nan"), "line 2: 'nan' is not usable"),
        ("\n" + ROWS, "line 1: it holds 0 values instead of 4"),
        (b"\xff\xfe\x00" + ROWS.encode(), "line 1: .* is no number"),
    ],
)
def test_broken_rows_are_refused_with_their_line(reading, text, message):
    with pytest.raises(FileError, match=f"^original: {message}"):
        reading(read_rows, text, (2, 4))


def test_a_broken_list_of_labels_is_refused(reading):
    with pytest.raises(FileError, match=r"line 1: .*after 1 of 2"):
        reading(read_labels, "1\n", 2)
    with pytest.raises(FileError, match=r"line 2: whole numbers .*'\?'"):
        reading(read_labels, "1\n?\n", 2)


def test_bracketed_matrices_are_rows(reading):
    content = reading(partial(read_matrices, matrix_rows=2), DAYS, (2, 6))
    assert content.X.tolist() == [
        [0.0123, 0.5, 1, 0, 0.25, 0.125],
        [0.1, 0.2, 0.3, 0.4, 0.5, 0.6],
    ]
    assert reading(read_label_list, "[7 1 2]\n", 3).tolist() == [7, 1, 2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cut(DAYS, 1), "line 1: the file ends here, after 1 of 2 rows"),
        (DAYS[:-8], r"line 2: it does not end with '\]'"),
        (DAYS[1:], r"line 1: it does not begin with '\['"),
        (DAYS + DAYS, "line 3: there are more than 2 rows"),
        (DAYS.replace("0.3;0.4", "0.3 0.4"), "line 2: its matrix has 1 rows instead of 2"),
        (DAYS.replace("0.2 0.3", "0.2"), "line 2: row 1 of its matrix holds 2 values"),
        (DAYS.replace("0.3;", ";0.3 "), "line 2: row 1 of its matrix holds 2 values"),
        (DAYS.replace("0.25", "0.2.5"), "line 1: '0.2.5' is no number"),
        (DAYS.replace("0.25", "-0.25"), "line 1: '-0.25' is not usable"),
    ],
)
def test_broken_bracketed_matrices_are_refused_with_their_line(reading, text, message):
    with pytest.raises(FileError, match=f"^original: {message}"):
        reading(partial(read_matrices, matrix_rows=2), text, (2, 6))


@pytest.mark.parametrize("text", ["[7 1]", "7 1 2", "[7 1 2", "[7 1 2]\n[7 1 2]", "[7 1 x]", ""])
def test_a_broken_bracketed_list_is_refused(reading, text):
    with pytest.raises(FileError, match=r"^original: line [12]: "):
        reading(read_label_list, text, 3)


def test_arff_has_values_names_and_classes(reading):
    content = reading(read_arff, ARFF, (4, 3))
    assert isinstance(content.X, csr_array)
    assert content.X.toarray().tolist() == [[3, 0, 1], [0, 0, 2], [0, 4, 0], [1, 0, 0]]
    assert content.X.nnz == 5
    assert content.y.tolist() == [0, 1, 2, 0]
    assert content.feature_names == ("the", "don't", "{")


def test_arff_names_may_be_any_bytes_and_repeat(reading):
    text = ARFF.encode().replace(b"\n@attribute the", b"\n@attribute \x01\xe9%")
    text = text.replace(b'"{"', b"class")
    content = reading(read_arff, text.upper().replace(b"ANN", b"Ann"), (4, 3))
    assert content.feature_names == ("\x01\\xe9%", "DON'T", "CLASS")
    assert content.y.tolist() == [0, 1, 2, 0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (cut(ARFF, 12), "line 12: the file ends here, after 2 of 4 rows"),
        (cut(ARFF, 9), "line 9: the file ends here, after 0 of 4 rows"),
        (cut(ARFF, 5), "line 5: the file ends here, before @data"),
        (ARFF[:-7], "line 14: it holds 2 values instead of 3"),
        (ARFF[:-4], "line 14: there is no class after the values"),
        (ARFF[:-2], "line 14: the class 'An' is not among the declared"),
        (ARFF + "1,0,0,Ann\n", "line 15: there are more than 4 rows"),
        (ARFF.replace("0,4,0", "0,4,0,0"), "line 13: the class .* is not among the declared"),
        (ARFF.replace("0,4,0", "0,?,0"), r"line 13: '\?' is no number"),
        (ARFF.replace("0,4,0", "0,-4,0"), "line 13: '-4' is not usable"),
        (ARFF.replace("3,0,1,Ann", "{0 3, 2 1, 3 Ann}"), "line 10: .* sparse .arff"),
        (ARFF.replace("real", "string"), "line 5: this is no numeric or nominal attribute"),
        (ARFF.replace("@attribute the numeric\n", ""), "line 8: there are 2 numeric attributes"),
        (ARFF.replace("@attribute class {", "% {"), "line 9: there is no nominal class"),
        (
            ARFF.replace("@attribute class", "@attribute a {b}\n@attribute class"),
            "line 8: @data was expected",
        ),
    ],
)
def test_a_broken_arff_is_refused_with_its_line(reading, text, message):
    with pytest.raises(FileError, match=f"^original: {message}"):
        reading(read_arff, text, (4, 3))
