"""What is optional is imported, or missed with a message that helps."""

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
