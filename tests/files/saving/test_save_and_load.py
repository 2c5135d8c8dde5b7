"""Saved files: equal in every bit, and every fault refused before it can do harm."""

import json
from dataclasses import fields

import numpy as np
import pytest

import orthonmf
from orthonmf import load, save
from orthonmf.datasets import make_planted
from orthonmf.errors import InvalidInputError, InvalidTypeError
from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF

SETTINGS = ["samples", "features", "both"]


def factorized(orthogonal="samples", dtype=np.float64):
    X = make_planted(40, 20, 3, 0.2, orthogonal=orthogonal, random_state=0).X.astype(dtype)
    X[4] = 0
    return orthonmf.factorize(X, 3, orthogonal=orthogonal, random_state=0), X


def dense(values):
    return values if isinstance(values, np.ndarray) else values.toarray()


def assert_same(one, other):
    for field in fields(one):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if field.name == "evidence":
            assert a.without_data() == b.without_data()
        elif field.name == "loadings":
            assert type(a) is type(b)
            np.testing.assert_array_equal(dense(a), dense(b))
        elif isinstance(a, np.ndarray):
            assert a.dtype == b.dtype
            np.testing.assert_array_equal(a, b)
        else:
            assert a == b


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_factorization_comes_back_equal_in_every_bit(tmp_path, orthogonal, dtype):
    result, X = factorized(orthogonal, dtype)
    save(result, tmp_path / "result.npz")
    again = load(tmp_path / "result.npz")
    assert_same(result, again)
    np.testing.assert_array_equal(dense(result.transform(X)), dense(again.transform(X)))


def test_a_certificate_and_a_promise_are_written_as_they_are_and_none_is_computed(tmp_path):
    X = factorized()[1]
    for init in ("lines", "auto"):
        result = orthonmf.factorize(X, 3, init=init, random_state=0)
        model = OrthogonalNMF(3, init=init, random_state=0).fit(X)
        for looked in (False, True):
            if looked:
                wanted = result.certificate, model.certificate_
            save(result, tmp_path / "result.npz")
            save(model, tmp_path / "model.npz")
            again, twin = load(tmp_path / "result.npz"), load(tmp_path / "model.npz")
            assert again.promise == result.promise
            assert twin.promise_ == model.promise_
            if looked:
                assert (again.certificate, twin.certificate_) == wanted
            else:
                assert result.evidence.settled is None
                assert "certify(X" in again.certificate.reason
                assert "certify(X" in twin.certificate_.reason
                assert again.certify(X).ratio == twin.certify(X).ratio > 1


def test_files_are_plain_npz_and_the_same_content_gives_the_same_bytes(tmp_path):
    result, _ = factorized()
    for name in ("a.npz", "b"):
        save(result, tmp_path / name)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b").read_bytes()
    with np.load(tmp_path / "a.npz", allow_pickle=False) as arrays:
        np.testing.assert_array_equal(arrays["components"], result.components)
        header = json.loads(arrays["header"].tobytes())
    assert header["format_version"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.npz", "b"]


@pytest.mark.parametrize("obj", [3, {"a": 1}, OrthogonalNMF, make_planted(4, 3, 2, 0.1)])
def test_other_objects_are_refused(tmp_path, obj):
    with pytest.raises(InvalidTypeError, match="cannot save"):
        save(obj, tmp_path / "x.npz")
    assert list(tmp_path.iterdir()) == []


# Faults. Every one starts from a good file whose parts are taken out, changed and put together.


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


def swap(arrays, one, other):
    arrays[one], arrays[other] = arrays[other], arrays[one]


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


def test_unknown_keys_are_ignored(file):
    header, arrays = parts_of(file)
    header["color"] = "blue"
    header["content"]["shape"] = [1]
    header["content"]["certificate"]["mood"] = "good"
    arrays["extra"] = np.arange(3)
    put_together(file, header, arrays)
    assert load(file).n_components_found == 3
