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


def swap(arrays, first, second):
    arrays[first], arrays[second] = arrays[second], arrays[first]


ARRAY_FAULTS = {
    "transposed": lambda a: a.update(components=a["components"].T),
    "swapped": lambda a: swap(a, "labels", "feature_labels"),
    "swapped dtypes": lambda a: swap(a, "labels", "scales"),
    "short": lambda a: a.update(scales=a["scales"][:-1]),
    "absent": lambda a: a.pop("components"),
    "absent labels": lambda a: a.pop("labels"),
    "NaN": lambda a: a["components"].__setitem__((0, 0), np.nan),
    "infinite": lambda a: a["scales"].__setitem__(0, np.inf),
    "negative": lambda a: a["scales"].__setitem__(0, -1.0),
    "long rows": lambda a: a.update(components=2 * a["components"]),
    "label too large": lambda a: a["labels"].__setitem__(0, 3),
    "label too small": lambda a: a["labels"].__setitem__(0, -2),
    "label without scale": lambda a: a["scales"].__setitem__(0, 0.0),
    "wrong owner": lambda a: a.update(feature_labels=(a["feature_labels"] + 1) % 3),
    "three dimensions": lambda a: a.update(components=a["components"][None]),
    "integers": lambda a: a.update(components=a["components"].astype(int)),
    "text": lambda a: a.update(components=a["components"].astype(str)),
    "complex": lambda a: a.update(components=a["components"].astype(complex)),
}


@pytest.mark.parametrize("fault", ARRAY_FAULTS)
def test_arrays_that_do_not_fit_together_are_refused(file, fault):
    header, arrays = parts_of(file)
    ARRAY_FAULTS[fault](arrays)
    put_together(file, header, arrays)
    with pytest.raises(InvalidInputError, match=r"damaged|lacks|plain numbers"):
        load(file)


def change(header, **values):
    header["content"].update(values)


def promised(ratio, kind):
    return {"ratio": ratio, "kind": kind, "reason": ""}


HEADER_FAULTS = {
    "another program": lambda h: h.update(format="other"),
    "no version": lambda h: h.pop("format_version"),
    "version as text": lambda h: h.update(format_version="1"),
    "unknown kind": lambda h: h.update(kind="Hat"),
    "kind as list": lambda h: h.update(kind=[1]),
    "no content": lambda h: h.pop("content"),
    "content as list": lambda h: h.update(content=[]),
    "setting": lambda h: change(h, orthogonal="rows"),
    "negative error": lambda h: change(h, error=-1.0),
    "NaN error": lambda h: change(h, error=float("nan")),
    "huge error": lambda h: change(h, error=10**400),
    "text error": lambda h: change(h, error="1"),
    "boolean error": lambda h: change(h, error=True),
    "absent error": lambda h: h["content"].pop("error"),
    "history": lambda h: change(h, history=["a"]),
    "steps": lambda h: change(h, steps_run=[1]),
    "certificate": lambda h: change(h, certificate=3),
    "certificate ratio": lambda h: change(h, certificate={"ratio": "great"}),
    "certificate text": lambda h: change(h, certificate={"reason": 1}),
    "promise": lambda h: change(h, promise="much"),
    "promised ratio": lambda h: change(h, promise=promised("2", None)),
    "negative promise": lambda h: change(
        h, promise={"ratio": -2.0, "kind": "always", "reason": ""}
    ),
    "promised kind": lambda h: change(h, promise=promised(2.0, "maybe")),
    "promise of no kind": lambda h: change(h, promise=promised(2.0, None)),
    "negative count": lambda h: change(h, n_sweeps=-1),
}


@pytest.mark.parametrize("fault", HEADER_FAULTS)
def test_headers_that_make_no_sense_are_refused(file, fault):
    header, arrays = parts_of(file)
    HEADER_FAULTS[fault](header)
    put_together(file, header, arrays)
    with pytest.raises(InvalidInputError, match=r"damaged|lacks|not an orthonmf file|unknown"):
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
CONTRADICTIONS = {
    "result": [
        ({"sample_names": ["a"]}, {}),
        ({"feature_names": [1] * 20}, {}),
        ({"preparation": ["log1p", "totals"]}, {}),  # not in the order of the table
        ({"preparation": ["magic"]}, {}),
        ({"preparation": ["tfidf"]}, {"preparation_tfidf": np.ones(3)}),
        ({"preparation": "log1p"}, {}),
        ({}, {"feature_weight": np.zeros(20)}),
        ({}, {"feature_weight": np.ones(19)}),
        ({}, {"feature_weight": -np.ones(20)}),
        ({"n_components": [1, 2, 3]}, {}),
        ({"fit_options": {**OPTIONS, "algorithm": "worst"}}, {}),
        ({"fit_options": {**OPTIONS, "init": [1]}}, {}),
        ({"fit_options": {**OPTIONS, "kmeans": 3}}, {}),
        ({"fit_options": {**OPTIONS, "n_init": 0}}, {}),
        ({"fit_options": {**OPTIONS, "tol": -1.0}}, {}),
        ({"fit_options": {}}, {}),
    ],
    "clusters": [
        ({"n_clusters": 11}, {}),
        ({"n_clusters": -1}, {}),
        ({"disagreements": 0.5}, {}),
        ({"row_names": ["a"]}, {}),
        ({}, {"row_labels": np.array([0, 0, 0, 1, 1, 10])}),
        ({}, {"row_labels": np.array([0, 0, 0, 1, 1, -1])}),
        ({}, {"column_labels": np.zeros(4)}),
    ],
    "stability": [
        ({"n_refits": 0}, {}),
        ({"resample": "rows"}, {}),
        ({"random_state": -1}, {}),
        ({"samples": {"agreement": 2}}, {}),
        ({}, {"samples_counts": np.full((40, 3), 4)}),  # more votes than refits
        ({}, {"samples_counts": np.ones((40, 3), int)}),  # of a row without entries too
        ({}, {"features_jaccard": np.full(3, 1.5)}),
        ({}, {"features_counts": np.zeros((20, 1), int)}),
    ],
}


@pytest.mark.parametrize(
    ("kind", "values", "arrays"),
    [(kind, *each) for kind, listed in CONTRADICTIONS.items() for each in listed],
    ids=str,
)
def test_what_contradicts_itself_is_refused(objects, kind, values, arrays, tmp_path):
    path = tmp_path / "some.npz"
    save(objects[kind], path)
    load(path)
    header, stored = parts_of(path)
    header["content"].update(values)
    put_together(path, header, stored | arrays)
    with pytest.raises(InvalidInputError, match=r"some\.npz is damaged"):
        load(path)
