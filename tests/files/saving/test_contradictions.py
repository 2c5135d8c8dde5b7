"""What a file says must fit together; every contradiction is refused when it is loaded."""

import json
from dataclasses import asdict

import numpy as np
import pytest

from orthonmf import load, save
from orthonmf.errors import InvalidInputError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF
from orthonmf.factorization import FitOptions
from tests.files.saving.test_save_and_load import clustered, factorized, stability_of, with_core

# Every fault starts from a good file whose parts are taken out, changed and put together.


def parts_of(path):
    with np.load(path) as arrays:
        parts = dict(arrays)
    return json.loads(parts.pop("header").tobytes()), parts


def put_together(path, header, arrays):
    text = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    np.savez_compressed(path, header=text, **arrays)


def test_the_taken_apart_file_is_good(file):
    put_together(file, *parts_of(file))
    assert load(file).n_components_found == 3


# By the name of an array: what makes it one that does not fit to the others.
BAD_ARRAYS = {
    "components": [
        np.transpose,
        lambda A: 2 * A,
        lambda A: np.where(A[0, 0] == A, np.nan, A),
        lambda A: A[None],
        lambda A: A.astype(str),
        lambda A: A.astype(complex),
    ],
    "labels": [
        lambda labels: np.full_like(labels, 3),
        lambda labels: labels.astype(float),
        lambda labels: labels[:20],
    ],
    "scales": [
        lambda scales: scales[:-1],
        lambda scales: scales.astype(int),
        lambda scales: np.full_like(scales, np.inf),
        lambda scales: -scales,
        np.zeros_like,  # of rows that have labels
    ],
    "feature_labels": [lambda labels: (labels + 1) % 3],
}


@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_arrays_that_do_not_fit_together_are_refused(file, name):
    header, arrays = parts_of(file)
    for damage in BAD_ARRAYS[name]:
        put_together(file, header, arrays | {name: damage(arrays[name])})
        with pytest.raises(InvalidInputError, match=r"damaged|plain numbers"):
            load(file)
    put_together(file, header, {other: arrays[other] for other in arrays if other != name})
    with pytest.raises(InvalidInputError, match="lacks"):
        load(file)


@pytest.mark.parametrize(
    "values",
    [
        {"format": "other"}, {"format_version": "1"}, {"kind": "Hat"}, {"kind": [1]},
        {"content": []},
    ],
    ids=str,
)  # fmt: skip
def test_headers_that_make_no_sense_are_refused(file, values):
    header, arrays = parts_of(file)
    put_together(file, header | values, arrays)
    with pytest.raises(InvalidInputError, match=r"damaged|not an orthonmf file|unknown"):
        load(file)


def test_a_newer_format_is_refused_with_advice(file):
    header, arrays = parts_of(file)
    header["format_version"] = 2
    put_together(file, header, arrays)
    with pytest.raises(InvalidInputError, match=r"newer orthonmf.*version 2.*upgrade"):
        load(file)


def test_unknown_keys_and_parameters_are_ignored(file, tmp_path):
    header, arrays = parts_of(file)
    header["color"] = "blue"
    header["content"]["shape"] = [1]
    header["content"]["certificate"]["mood"] = "good"
    arrays["extra"] = np.arange(3)
    put_together(file, header, arrays)
    assert load(file).n_components_found == 3
    model = OrthogonalNMF(3, random_state=0).fit(factorized()[1])
    save(model, file)
    header, arrays = parts_of(file)
    header["content"]["parameters"]["turbo"] = True
    put_together(file, header, arrays)
    assert load(file).n_components == 3


def exchange_labels(arrays):
    arrays["feature_labels"] = np.roll(arrays["feature_labels"], 1)


def stretch_a_column(arrays):
    components = arrays["components"]
    column = int(components[0].argmax())
    components[:, column] *= [2.0, 0.5]
    arrays["components"] = components / np.linalg.norm(components, axis=1)[:, None]


def shrink_a_scale(arrays):
    arrays["feature_scales"][arrays["feature_labels"] >= 0] *= 0.5


def use_an_empty_column(arrays):
    arrays["feature_labels"][4], arrays["feature_scales"][4] = 0, 1e-12


@pytest.mark.parametrize(
    "fault", [exchange_labels, stretch_a_column, shrink_a_scale, use_an_empty_column]
)
def test_components_that_are_not_made_of_their_groups_are_refused(fault, tmp_path):
    path = tmp_path / "x.npz"
    save(with_core()[1], path)
    header, arrays = parts_of(path)
    fault(arrays)
    put_together(path, header, arrays)
    with pytest.raises(InvalidInputError, match="contradict each other"):
        load(path)


@pytest.fixture(scope="module")
def objects():
    """An object of each kind, made once."""
    return {"result": factorized()[0], "clusters": clustered(), "stability": stability_of()}


OPTIONS = asdict(FitOptions())


def promised(ratio, kind):
    return {"ratio": ratio, "kind": kind, "reason": ""}


# By the kind of an object and the name of a value: values that it cannot have.
BAD_VALUES = {
    "result": {
        "orthogonal": ["rows"],
        "error": [-1.0, float("nan"), 10**400, "1", True],
        "history": [["a"]],
        "steps_run": [[1]],
        "n_sweeps": [-1],
        "n_components": [[1, 2, 3]],
        "certificate": [3, {"ratio": "great"}, {"reason": 1}],
        "promise": [
            "much", promised("2", None), promised(-2.0, "always"), promised(2.0, "maybe"),
            promised(2.0, None),
        ],
        "sample_names": [["a"]],
        "feature_names": [[1] * 20],
        "preparation": [["log1p", "totals"], ["magic"], "log1p"],  # not in the order of the table
        "fit_options": [{}, {**OPTIONS, "init": [1]}],
    },
    "clusters": {"disagreements": [0.5], "row_names": [["a"]]},
    "stability": {
        "n_refits": [0], "resample": ["rows"], "random_state": [-1],
        "samples": [{"agreement": 2}],
    },
}  # fmt: skip
# The same of arrays.
BAD_ARRAYS_OF = {
    "result": {"feature_weight": [np.zeros(20), np.ones(19), -np.ones(20)]},
    "clusters": {
        "row_labels": [np.array([0, 0, 0, 1, 1, 10]), np.array([0, 0, 0, 1, 1, -1])],
        "column_labels": [np.zeros(4)],
    },
    "stability": {
        # More votes than refits, and votes of a row without entries.
        "samples_counts": [np.full((40, 3), 4), np.ones((40, 3), int)],
        "features_jaccard": [np.full(3, 1.5)],
        "features_counts": [np.zeros((20, 1), int)],
    },
}


@pytest.mark.parametrize("kind", BAD_VALUES)
def test_what_contradicts_itself_is_refused(objects, kind, tmp_path):
    path = tmp_path / "some.npz"
    save(objects[kind], path)
    header, arrays = parts_of(path)
    content = header["content"]
    bad = [({name: value}, {}) for name, values in BAD_VALUES[kind].items() for value in values]
    bad += [({}, {name: a}) for name, listed in BAD_ARRAYS_OF[kind].items() for a in listed]
    if kind == "result":
        bad.append(({"preparation": ["tfidf"]}, {"preparation_tfidf": np.ones(3)}))
    for values, changed in bad:
        put_together(path, header | {"content": content | values}, arrays | changed)
        with pytest.raises(InvalidInputError, match=r"some\.npz is damaged"):
            load(path)
    put_together(path, header | {"content": {}}, arrays)
    with pytest.raises(InvalidInputError, match=r"some\.npz is damaged: it (lacks|has no)"):
        load(path)
