import inspect
import re

import pytest

import orthonmf


@pytest.mark.parametrize(
    "kind",
    [orthonmf.OrthogonalNMF, orthonmf.BipartiteCorrelationClustering],
    ids=lambda kind: kind.__name__,
)
def test_every_parameter_of_an_estimator_is_documented_once_with_its_default(kind):
    text = inspect.getdoc(kind).split("Parameters\n----------\n")[1].split("\n\n")[0]
    heads = [re.split(r" : ", head) for head in re.findall(r"^\S.*$", text, re.MULTILINE)]
    names = [name for head, _ in heads for name in head.split(", ")]
    parameters = inspect.signature(kind).parameters
    assert sorted(names) == sorted(parameters)
    for head, about in heads:
        for name in head.split(", "):
            assert "default=" in about
            assert repr(parameters[name].default).strip("'") in about
