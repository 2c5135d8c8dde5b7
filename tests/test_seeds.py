"""An answer can be made again: every result keeps the seed it was made with."""

import numpy as np
import pytest

import orthonmf
from tests.same_bits import assert_same_bits

X = np.random.default_rng(0).exponential(size=(60, 9))


@pytest.mark.parametrize("seed", [0, 17, np.int64(5), 2**70])
def test_a_seed_that_was_given_is_kept(seed):
    result = orthonmf.factorize(X, 4, random_state=seed)
    assert result.random_state == seed
    assert type(result.random_state) is int


def test_without_a_seed_one_is_drawn_that_makes_the_answer_again():
    drawn = [orthonmf.factorize(X, 4) for _ in range(2)]
    assert drawn[0].random_state != drawn[1].random_state
    for result in drawn:
        assert_same_bits(orthonmf.factorize(X, 4, random_state=result.random_state), result)


@pytest.mark.parametrize(
    "source", [np.random.default_rng(1), np.random.RandomState(1), np.random.SeedSequence(1)]
)
def test_random_numbers_from_elsewhere_have_no_seed(source):
    assert orthonmf.factorize(X, 4, random_state=source).random_state is None


def test_a_fit_without_a_seed_that_goes_on_keeps_the_seed_of_its_file(tmp_path):
    first = orthonmf.factorize(X, 4, checkpoint=tmp_path / "kept")
    second = orthonmf.factorize(X, 4, checkpoint=tmp_path / "kept")
    assert second.random_state == first.random_state
    assert_same_bits(orthonmf.factorize(X, 4, random_state=first.random_state), second)
