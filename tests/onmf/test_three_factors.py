"""Groups of rows, groups of columns and a core: what is found, and wherever the data lie."""

import numpy as np
import pytest
from sklearn.base import clone

import orthonmf
from orthonmf.errors import FewerComponentsWarning, InvalidInputError, InvalidTypeError
from orthonmf.progress import listening
from tests.quick_cases import mostly_slow
from tests.same_bits import assert_same_bits


def planted(seed, n=60, m=40, sizes=(4, 5), n_zero=0, noise=0.0):
    """A shuffled matrix with groups on both sides, its first rows and columns zero, and labels."""
    rng, (k, l) = np.random.default_rng(seed), sizes  # noqa: E741
    labels = rng.permutation(np.arange(n) % k)
    feature_labels = rng.permutation(np.arange(m) % l)
    core = rng.gamma(0.5, size=sizes)
    X = core[labels][:, feature_labels] * np.outer(rng.gamma(2, size=n), rng.gamma(2, size=m))
    X[:n_zero], X[:, :n_zero] = 0.0, 0.0
    labels[:n_zero], feature_labels[:n_zero] = -1, -1
    return X + noise * X.mean() * rng.exponential(size=X.shape), labels, feature_labels


def fit(X, sizes=(4, 5), **options):
    return orthonmf.factorize(
        X, sizes, orthogonal="both", **{"random_state": 0, "certificate": None, **options}
    )


def same_partition(labels, others):
    pairs = {*zip(labels.tolist(), others.tolist(), strict=True)}
    return len(pairs) == len(np.unique(labels)) == len(np.unique(others)) and (
        np.array_equal(labels < 0, others < 0)
    )


@pytest.mark.parametrize("seed", range(3))
def test_planted_groups_are_recovered_exactly(seed):
    X, labels, feature_labels = planted(seed, n_zero=3)
    result = fit(X)
    assert result.relative_squared_error < 1e-25
    assert same_partition(result.labels, labels)
    assert same_partition(result.feature_labels, feature_labels)
    assert (result.scales[:3] == 0).all()
    assert (result.feature_scales[:3] == 0).all()


def test_a_row_and_a_column_outside_the_groups_that_belong_together_are_found():
    X = np.zeros((16, 16))
    for block in range(4):
        part = slice(4 * block, 4 * block + 4)
        X[part, part] = np.outer(np.arange(1, 5), np.arange(2, 6)) * (block + 1)
    known = np.where(X[[0, 5, 10]] > 0, 1.0, 0.0)
    assert fit(X, (4, 4), init=known).relative_squared_error < 1e-28


def test_the_history_never_rises_and_every_number_of_groups_helps():
    X, _, _ = planted(1, noise=1.0)
    errors, heard = [], []
    for sizes in [(2, 2), (2, 4), (4, 4), (4, 8)]:
        with listening(lambda step, error: heard.append(error)):
            result = fit(X, sizes)
        assert any(error == pytest.approx(result.relative_squared_error) for error in heard)
        assert (np.diff(result.history) <= 0).all()
        assert result.history[-1] == result.relative_squared_error
        errors.append(result.relative_squared_error)
    assert errors == sorted(errors, reverse=True)


def test_factors_are_orthogonal_exactly_and_ordered():
    X, _, _ = planted(2, noise=1.0)
    result = fit(X)
    assert result.core.shape == (4, 5)
    assert (result.core >= 0).all()
    assert np.count_nonzero(result.loadings.toarray(), axis=1).max() == 1
    energies = np.square(result.core)
    assert (np.diff(energies.sum(axis=0)) <= 0).all()
    assert (np.diff(energies.sum(axis=1)) <= 1e-9 * energies.sum()).all()
    # Within a group the columns of the components are proportional: of rank 1, by construction.
    for group in range(5):
        members = np.flatnonzero(result.feature_labels == group)
        shares = result.components[:, members] / result.feature_scales[members]
        np.testing.assert_allclose(shares, np.tile(shares[:, :1], len(members)), rtol=1e-13)
    lengths = np.bincount(result.feature_labels, result.feature_scales**2)
    np.testing.assert_allclose(lengths, 1.0)
    assert isinstance(result.A, np.ndarray)


def test_one_number_is_a_diagonal_core():
    X, _, _ = planted(3, noise=0.1)
    result = orthonmf.factorize(X, 1, orthogonal="both", random_state=0)
    assert result.core.shape == (1, 1)
    assert result.core[0, 0] ** 2 == pytest.approx(
        (1 - result.relative_squared_error) * np.sum(X**2)
    )
    assert orthonmf.factorize(X, 2, random_state=0).core is None
    assert orthonmf.factorize(X, 2, orthogonal="features", random_state=0).core is None


@pytest.mark.slow
def test_the_same_bits_for_any_number_of_threads_and_wherever_the_data_lie(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(20_000, 30))
    alone, threaded = (fit(X, (3, 4), n_jobs=n_jobs) for n_jobs in (1, 4))
    assert_same_bits(threaded, alone)
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    first, second = (fit(mapped, (3, 4), n_jobs=n_jobs) for n_jobs in (1, 4))
    assert np.array_equal(first.components, second.components)
    # Nothing but noise: other starts end at other answers that are about as good.
    assert first.relative_squared_error == pytest.approx(alone.relative_squared_error, rel=0.01)


def test_chunks_of_dask_give_an_answer_as_good():
    array = pytest.importorskip("dask.array")
    X, _, _ = planted(5, n=200, noise=0.2)
    near = fit(X)
    far = fit(array.from_array(X, chunks=(50, -1)))
    assert far.relative_squared_error == pytest.approx(near.relative_squared_error, rel=0.01)
    assert same_partition(far.labels, near.labels)


@pytest.mark.parametrize("power", [1000, -1000])
def test_powers_of_two_change_scales_alone(power):
    X, _, _ = planted(7, noise=0.5)
    plain, scaled = fit(X), fit(np.ldexp(X, power))
    assert np.array_equal(plain.components, scaled.components)
    assert np.array_equal(plain.labels, scaled.labels)
    assert np.array_equal(plain.feature_scales, scaled.feature_scales)
    assert np.array_equal(np.ldexp(plain.scales, power), scaled.scales)
    assert np.array_equal(np.ldexp(plain.core, power), scaled.core)
    assert scaled.relative_squared_error == pytest.approx(plain.relative_squared_error, rel=1e-12)


def test_whole_weights_are_repetitions_and_zero_is_absence():
    X, _, _ = planted(8, noise=0.5)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(0, 4, len(X)), rng.integers(0, 4, X.shape[1])
    weighted = fit(X, sample_weight=rows, feature_weight=columns)
    repeated = fit(np.repeat(np.repeat(X, rows, axis=0), columns, axis=1))
    assert weighted.relative_squared_error == pytest.approx(
        repeated.relative_squared_error, rel=1e-6
    )
    assert (weighted.feature_labels[columns == 0] == -1).all()
    fitted = np.asarray(weighted.loadings @ weighted.components)
    squared = rows @ np.square(X - fitted) @ columns
    total = rows @ np.square(X) @ columns
    assert weighted.relative_squared_error == pytest.approx(squared / total, rel=1e-9)


def test_several_starts_are_no_worse_than_one():
    X = np.random.default_rng(1).integers(0, 3, (20, 15)).astype(float)
    several = fit(X, (3, 3), n_init=3)
    assert several.relative_squared_error <= fit(X, (3, 3)).relative_squared_error * (1 + 1e-12)


def planted_blocks(seed, n=200, m=150, k=12):
    """Disjoint blocks of uneven strength, and a few single entries between them."""
    rng = np.random.default_rng(seed)
    labels, feature_labels = rng.integers(k, size=n), rng.integers(k, size=m)
    strengths = np.exp(rng.normal(size=k))[labels]
    X = np.outer(rng.gamma(2, size=n) * strengths, rng.gamma(2, size=m))
    X *= labels[:, None] == feature_labels
    return X + 0.5 * X.mean() * rng.exponential(size=X.shape) * (rng.random(X.shape) < 0.02)


@pytest.mark.parametrize("sizes", [(12, 12), (16, 12)])
@pytest.mark.parametrize("seed", mostly_slow(range(2), quick=1))
def test_a_core_is_never_above_the_disjoint_blocks_of_the_same_seed(seed, sizes, tmp_path):
    X = planted_blocks(seed)
    blocks = orthonmf.factorize(
        X, min(sizes), orthogonal="both", random_state=seed, certificate=None
    )
    core = fit(X, sizes, random_state=seed)
    assert ("disjoint blocks" in core.steps_run) == (sizes == (12, 12))  # else blocks miss far more
    assert core.relative_squared_error <= blocks.relative_squared_error * (1 + 1e-9)
    for _ in range(2 if seed == 0 else 0):
        kept = fit(X, sizes, random_state=seed, checkpoint=tmp_path / "fit")
        assert_same_bits(kept, core)


@pytest.mark.slow
@pytest.mark.parametrize("k", [20, 60])
def test_many_planted_groups_are_found(k):
    errors = []
    for seed in range(3):
        X, labels, feature_labels = planted(seed, 25 * k, 10 * k, (k, k), noise=0.05)
        known = orthonmf.certify(X, labels, feature_labels, n_components=(k, k), method="svd")
        result = fit(X, (k, k), random_state=seed)
        errors.append(result.relative_squared_error / known.relative_squared_error)
    assert np.median(errors) <= 1.001
    assert sorted(errors)[-2] <= 1.02


def test_a_pair_is_refused_where_it_means_nothing():
    X, _, _ = planted(0)
    with pytest.raises(InvalidInputError, match="needs orthogonal='both'"):
        orthonmf.factorize(X, (2, 2))
    with pytest.raises(InvalidInputError, match="or two of them"):
        fit(X, (2, 2, 2))
    with pytest.raises(InvalidInputError, match="positive integer, got 0"):
        fit(X, (2, 0))
    with pytest.raises(InvalidTypeError, match=r"positive integer, got 2\.5"):
        fit(X, (2, 2.5))
    with pytest.raises(InvalidInputError, match="use algorithm='best' or one number"):
        fit(X, (2, 2), algorithm="paper")
    X[0, 0] = np.nan
    with pytest.raises(InvalidInputError, match="and missing values"):
        fit(X, (2, 2), missing_values=np.nan)


def test_groups_that_cannot_be_in_use_are_told():
    X = np.outer(np.arange(1.0, 6.0), np.arange(1.0, 5.0))
    with pytest.warns(FewerComponentsWarning, match="1 of the 2 groups of rows .* 3 groups of col"):
        result = fit(X, (2, 3))
    assert result.core.shape == (1, 1)
    with pytest.warns(FewerComponentsWarning):
        assert fit(np.zeros((4, 3)), (2, 2)).core.shape == (0, 0)


def test_the_estimator_stores_the_pair_as_it_came():
    model = orthonmf.OrthogonalNMF((4, 5), orthogonal="both", random_state=0)
    assert clone(model).n_components == (4, 5)
    X, _, _ = planted(1, noise=0.3)
    model.fit(X)
    result = fit(X)
    assert np.array_equal(model.core_, result.core)
    assert np.array_equal(model.predict(X), result.labels)
    assert np.array_equal(model.transform(X).argmax(axis=1), result.labels)
