"""Sizes are known before work: what cannot be used is cut, what cannot be held is refused."""

import subprocess
import sys
import tracemalloc
import warnings

import numpy as np
import pytest
from scipy.sparse import csr_array, random_array

import orthant
from orthant.datasets import make_planted
from orthant.engine.memory import available_memory, in_words, memory_limit
from orthant.onmf.choices import ALGORITHMS, COMPLETE, Problem, fit_bytes
from orthant.validation.data import as_matrix

X = make_planted(20, 12, 4, 1.0, random_state=0).X
WIDE = csr_array((np.ones(50), (np.arange(50), np.arange(50) * 1000)), shape=(50, 10**12))
HUGE = 10**15


@pytest.mark.parametrize("problem", list(ALGORITHMS), ids=str)
def test_more_components_than_can_be_used_are_asked_for_and_told(problem):
    data, options = X.copy(), {}
    if problem.data == "missing values":
        data[2, 3], options = np.nan, {"missing_values": np.nan}
    fit = {"orthogonal": problem.orthogonal, "algorithm": problem.algorithm, **options}
    with pytest.warns(orthant.FewerComponentsWarning, match=f"of the {HUGE} components"):
        found = orthant.factorize(data, HUGE, random_state=0, **fit)
    most = {"samples": 20, "features": 12, "both": 12}[problem.orthogonal]
    assert found.n_components == HUGE
    assert found.n_components_found <= most
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthant.FewerComponentsWarning)
        fewer = orthant.factorize(data, most, random_state=0, **fit)
    np.testing.assert_array_equal(found.components, fewer.components)


def test_components_to_start_from_may_be_more_than_the_samples():
    given = np.random.default_rng(0).random((6, 12))
    with pytest.warns(orthant.FewerComponentsWarning):
        found = orthant.factorize(X[:4], 8, seeding=given, random_state=0)
    assert found.n_components_found <= 4


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_a_result_that_no_memory_holds_is_refused_before_the_data_are_read(algorithm, orthogonal):
    with pytest.raises(orthant.OrthantError, match=r"320 TB, but .* available; ask for") as caught:
        orthant.factorize(WIDE, 40, orthogonal=orthogonal, algorithm=algorithm)
    assert isinstance(caught.value, MemoryError)


def test_many_components_over_both_are_refused_at_once():
    many = csr_array((np.ones(3), ([0, 1, 2], [5, 6, 7])), shape=(10**7, 10**7))
    with pytest.raises(MemoryError, match="10,000,000 components"):
        orthant.factorize(many, 10**7, orthogonal="both")


def test_a_list_has_no_shape_and_is_refused_before_the_fit():
    with pytest.raises(MemoryError, match="1,000,000 components"):
        orthant.factorize([[1.0] * 10**6], 10**6, orthogonal="features")


CASES = [
    (random_array((50, 60_000), density=1e-3, rng=np.random.default_rng(0), format="csr"), 5),
    (random_array((2000, 9000), density=5e-3, rng=np.random.default_rng(0), format="csr"), 30),
    (np.random.default_rng(0).random((60, 20_000)), 8),
]


@pytest.mark.slow
@pytest.mark.parametrize("case", range(len(CASES)))
@pytest.mark.parametrize("orthogonal", ["samples", "both"])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_the_estimate_is_near_what_a_fit_takes(case, orthogonal, algorithm):
    data, k = CASES[case]
    # More sweeps would take longer, not more memory.
    options = {"orthogonal": orthogonal, "algorithm": algorithm, "random_state": 0, "max_iter": 3}
    matrix = as_matrix(data)
    estimate = fit_bytes(
        matrix, ALGORITHMS[Problem(algorithm, orthogonal, COMPLETE)], k, orthogonal
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthant.FewerComponentsWarning)
        tracemalloc.start()
        try:
            found = orthant.factorize(data, k, certificate=None, n_jobs=1, **options)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    print(f"estimated {in_words(estimate)}, taken {in_words(peak)}")
    assert estimate >= found.components.nbytes + found.labels.nbytes + found.scales.nbytes
    assert peak / 2 <= estimate <= 3 * peak


def test_what_is_available_is_no_more_than_there_is():
    available, limit = available_memory(), memory_limit()
    assert available is None or limit is None or 0 < available <= limit


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.slow
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_process_is_seen(limit):
    code = (
        "import resource\n"
        "import numpy as np, orthant\n"
        "from scipy.sparse import csr_array\n"
        "from orthant.engine.memory import available_memory\n"
        f"resource.setrlimit(resource.{limit}, (4 * 2**30,) * 2)\n"
        "assert 0 < available_memory() < 4 * 2**30\n"
        "orthant.factorize(np.ones((30, 20)), 2, random_state=0, n_jobs=1, certificate=None)\n"
        "try:\n"
        "    wide = csr_array((np.ones(40), (range(40), range(40))), shape=(40, 2 * 10**7))\n"
        "    orthant.factorize(wide, 35, certificate=None)\n"
        "except MemoryError as error:\n"
        "    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "TooLargeError\n", done.stderr


@pytest.mark.parametrize(
    ("size", "words"),
    [(999, "999 bytes"), (96 * 10**9, "96 GB"), (320 * 10**12, "320 TB"), (1_500_000, "1.5 MB")],
)
def test_a_size_is_told_in_words(size, words):
    assert in_words(size) == words
