import inspect
import re
import subprocess
import sys

import pytest

import orthonmf
from orthonmf.estimators.documentation import document_parameters_of


@pytest.mark.parametrize(
    "kind",
    [orthonmf.OrthogonalNMF, orthonmf.BipartiteCorrelationClustering],
    ids=lambda one: one.__name__,
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


def test_parameters_that_the_class_does_not_take_stay_out_and_its_own_come_last():
    def function(a, b, c):
        """Do it.

        Parameters
        ----------
        a, b
            Two numbers.
        c
            One.

        Returns
        -------
        d
        """

    @document_parameters_of(function)
    class Doer:
        """Does it.

        Parameters
        ----------
        own : default=3
            Its own.
        """

        def __init__(self, b=2, own=3):
            pass

    expected = (
        "Parameters\n----------\nb : default=2\n    Two numbers.\nown : default=3\n    Its own."
    )
    assert inspect.getdoc(Doer) == f"Does it.\n\n{expected}"


DOCSTRING = '"""Do it.\\n\\nParameters\\n----------\\na\\n    One."""'


def test_python_may_leave_docstrings_out():
    # Not an estimator itself: without docstrings all of scikit-learn would be compiled again.
    code = f"""
from orthonmf.estimators.documentation import document_parameters_of
def function(a):
    {DOCSTRING}
@document_parameters_of(function)
class Doer:
    {DOCSTRING}
    def __init__(self, a=1):
        pass
print(Doer.__doc__)
"""
    command = [sys.executable, "-OO", "-c", code]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "None\n"
