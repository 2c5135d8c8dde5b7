"""What is optional is imported, or missed with a message that helps."""

import re
import tomllib
from pathlib import Path

import pytest

from orthonmf.errors import MissingExtraError
from orthonmf.extras import import_extra


@pytest.mark.parametrize("module", ["not_there_at_all", "not_there_at_all.inner.part"])
def test_a_missing_package_is_named_with_the_extra_that_brings_it(module):
    with pytest.raises(MissingExtraError) as caught:
        import_extra(module, "gpu")
    assert str(caught.value) == (
        "this needs not_there_at_all, which is not installed: pip install not_there_at_all; "
        "the extra 'gpu' of orthonmf brings it"
    )
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_every_extra_that_a_message_names_is_one_of_the_project():
    root = Path(__file__).parents[1]
    declared = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    named = {
        extra
        for path in root.glob("src/**/*.py")
        for extra in re.findall(r'import_extra\([^)]*?"(\w+)"\)', path.read_text(encoding="utf-8"))
    }
    assert named
    assert named <= set(declared["optional-dependencies"])
