import numpy as np
import pytest

from orthonmf.engine.digest import digest


@pytest.mark.parametrize(
    ("arrays", "expected"),
    [
        ((np.arange(3.0),), "d4086f26383e4b6d5f11c63e21b71cd4"),
        ((np.eye(2), None), "7a186ea747ffeea6d682dcda7d7141d0"),
    ],
)
def test_digests_in_files_of_earlier_versions_stay_the_same(arrays, expected):
    assert digest(*arrays) == expected


def test_lengths_count_and_so_do_missing_arrays():
    a, b = np.arange(3.0), np.arange(3.0, 5.0)
    assert digest(a, b) != digest(np.concatenate((a, b)))
    assert digest(a, None) != digest(None, a) != digest(a)
    assert digest(a[::2]) == digest(a[::2].copy())
