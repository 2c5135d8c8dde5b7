"""What computing a certificate takes."""

from orthant.bounds.table import LARGEST_GROUP
from orthant.certification.certify import certificate_bytes


def test_a_certificate_counts_its_gram_matrix_where_it_forms_one():
    assert certificate_bytes((2000, 20_000)) >= 2000**2 * 8
    group = certificate_bytes((50_000, 20_000))
    assert group == certificate_bytes((LARGEST_GROUP, 20_000))
