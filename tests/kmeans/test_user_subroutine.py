"""A k-means function of the user: what it sees, what it may answer, and what it may claim."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array

import orthonmf
from orthonmf.engine.points import Samples
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from orthonmf.kmeans.subroutines import weighted_kmeans
from orthonmf.kmeans.user_subroutine import call_subroutine
from tests.oracles.weighted_kmeans import kmeans_cost

X = np.random.default_rng(0).exponential(size=(12, 4))


def test_a_subroutine_sees_normalized_points_and_weights():
    X = np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0], [1.0, 0.0]])
    seen = {}

    def spy(points, weights, k, rng):
        seen.update(points=points, weights=weights, k=k, rng=rng)
        return np.array([0, 1, 1])

    rng = np.random.default_rng(0)
    found = call_subroutine(spy, Samples(as_matrix(X)), 2, rng)
    np.testing.assert_allclose(seen["points"], [[0.6, 0.8], [0.0, 1.0], [1.0, 0.0]])
    np.testing.assert_allclose(seen["weights"], [25.0, 4.0, 1.0])
    assert seen["k"] == 2
    assert seen["rng"] is rng
    np.testing.assert_array_equal(found.labels, [0, -1, 1, 1])
    assert found.cost == pytest.approx(
        kmeans_cost(seen["points"], seen["weights"], np.array([0, 1, 1]))
    )


@pytest.mark.parametrize("answer", [[0, 1], [0.0, 1.0, 1.0], [0, 1, 2], [0, -1, 1]])
def test_a_wrong_answer_of_a_subroutine_is_refused_with_its_place(answer):
    X = np.array([[3.0, 4.0], [0.0, 2.0], [1.0, 0.0]])
    with pytest.raises(ValueError, match="kmeans must return"):
        call_subroutine(lambda p, w, k, rng: np.array(answer), Samples(as_matrix(X)), 2, None)


def claiming(ratio, **more):
    def kmeans(points, weights, k, rng):
        return SimpleNamespace(labels=np.arange(len(weights)) % k, ratio=ratio, **more)

    return kmeans


@pytest.mark.parametrize(
    ("claim", "message"),
    [
        *(({"ratio": ratio}, "ratio") for ratio in (np.nan, np.inf, 0.999, "2", True, [2.0])),
        *(({"ratio": 2.0, "kind": kind}, "kind of the ratio") for kind in ("sometimes", None, 1)),
    ],
)
def test_a_claim_that_cannot_be_one_is_refused(claim, message):
    with pytest.raises(InvalidInputError, match=f"the {message} that kmeans claims is"):
        orthonmf.factorize(X, 2, algorithm="paper", kmeans=claiming(**claim))


@pytest.mark.parametrize("ratio", [1, np.float32(1.5), np.int64(3)])
@pytest.mark.parametrize("kind", ["always", "expected"])
def test_a_proper_claim_is_taken_as_it_is(ratio, kind):
    found = orthonmf.factorize(
        X, 2, algorithm="paper", kmeans=claiming(ratio, kind=kind), certificate=None
    )
    assert found.certificate.a_priori_ratio == pytest.approx(2 * float(ratio), rel=1e-6)
    assert found.certificate.a_priori_kind == kind


def test_a_function_may_state_its_ratio_itself():
    def kmeans(points, weights, k, rng):
        return np.arange(len(weights)) % k

    points = Samples(as_matrix(np.eye(4) + 1))
    rng = np.random.default_rng(0)
    assert weighted_kmeans(points, 2, rng=rng, subroutine=kmeans).promise.ratio is None
    kmeans.ratio, kmeans.kind = 6.36, "expected"
    promise = weighted_kmeans(points, 2, rng=rng, subroutine=kmeans).promise
    assert (promise.ratio, promise.kind) == (6.36, "expected")
    kmeans.ratio = 0.5
    with pytest.raises(InvalidInputError, match="that kmeans claims is"):
        weighted_kmeans(points, 2, rng=rng, subroutine=kmeans)


def test_labels_may_come_as_those_of_scikit_learn_and_a_ratio_of_the_answer_counts_first():
    def kmeans(points, weights, k, rng):
        return SimpleNamespace(labels_=[0, 1, 0, 1], ratio=1.5, kind="expected")

    kmeans.ratio = 7.0
    points = Samples(as_matrix(np.eye(4) + 1))
    found = call_subroutine(kmeans, points, 2, None)
    assert found.labels.tolist() == [0, 1, 0, 1]
    assert (found.promise.ratio, found.promise.kind) == (1.5, "expected")


def test_points_of_a_sparse_matrix_come_to_the_user_as_one():
    seen = []
    points = Samples(as_matrix(csr_array(np.array([[3.0, 4.0], [0.0, 0.0], [0.0, 2.0]]))))
    call_subroutine(lambda p, w, k, rng: seen.append(p) or np.array([0, 1]), points, 2, None)
    assert isinstance(seen[0], csr_array)
    np.testing.assert_allclose(seen[0].toarray(), [[0.6, 0.8], [0.0, 1.0]])
