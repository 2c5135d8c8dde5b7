"""OrthogonalNMF passes every check of scikit-learn, and none is silenced."""

import numpy as np
import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from orthonmf.estimators.orthogonal_nmf import OrthogonalNMF


def for_checks(**options):
    return OrthogonalNMF(2, random_state=0, n_jobs=1, **options)


CHECKED = [
    for_checks(orthogonal="samples"),
    for_checks(orthogonal="features", missing_values=np.nan),
    for_checks(orthogonal="both", n_init=1),  # of which many starts take long
]


# The checks fit single samples and constant data, where fewer components are the right answer.
@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::orthonmf.errors.FewerComponentsWarning")
@parametrize_with_checks(CHECKED)
def test_scikit_learn_contract(estimator, check):
    if "sample_weight_equivalence" in str(check):
        # As many starts as these tiny data need to find the same partition.
        estimator.set_params(n_init=4)
    check(estimator)


@pytest.mark.parametrize("estimator", CHECKED, ids=str)
def test_no_tag_silences_the_checks(estimator):
    assert len(list(estimator_checks_generator(estimator))) >= 45
    tags = get_tags(estimator)
    assert not tags.no_validation
    assert not tags.non_deterministic
    assert not getattr(tags, "_skip_test", False)
