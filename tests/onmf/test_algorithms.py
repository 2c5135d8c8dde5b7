"""No option is ignored in silence: whatever is asked for makes a difference or is refused."""

import subprocess
import sys
import tracemalloc
import warnings
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.filesize import decimal
from scipy.sparse import csr_array
from scipy.sparse import random as random_entries

import orthonmf
from orthonmf.cli.data import Reading, most_bytes
from orthonmf.datasets import make_planted
from orthonmf.engine.losses import LOSSES
from orthonmf.errors import InvalidInputError
from orthonmf.inputs.data import as_matrix
from orthonmf.inputs.parameters import as_bytes
from orthonmf.kmeans.subroutines import SUBROUTINES
from orthonmf.onmf.algorithms import ALGORITHMS, COMPLETE, CORE, INITS, NAMES, SETTINGS, Problem
from orthonmf.onmf.memory import fit_bytes
from tests.onmf.small_points import some_options

# More rows than a sample holds, so that every way to draw first directions is another one.
MANY = make_planted(620, 12, 4, 1.0, random_state=0).X
FEW = make_planted(20, 12, 4, 1.0, random_state=0).X
DATA = ["complete", "missing values", "full rank"]
COMPONENTS = np.random.default_rng(5).random((4, 620))


def in_two_parts(points, weights, k, rng):
    return np.arange(len(points)) % 2


VALUES = (
    [("init", name) for name in INITS if name != "auto"]
    + [("init", COMPONENTS)]
    + [("kmeans", name) for name in SUBROUTINES if name != "k-means++"]
    + [("kmeans", in_two_parts)]
    + [("certificate", "tight"), ("certificate", None), ("checkpoint", "found.checkpoint")]
    + [("n_init", 3), ("max_iter", 1), ("tol", 0.5)]
)
PROBLEMS = [
    (algorithm, orthogonal, data, loss)
    for loss in LOSSES
    for algorithm in NAMES
    for orthogonal in SETTINGS
    for data in DATA
    if data != "full rank" or orthogonal == "both"
]
# A tight certificate of blocks takes its time.
CASES = [
    pytest.param(
        problem,
        option,
        value,
        id=f"{' '.join(problem)}, {option}, {str(value)[:20]}",
        marks=pytest.mark.slow if "both" in problem and option == "certificate" and value else (),
    )
    for problem in PROBLEMS
    for option, value in VALUES
]
# What is asked for is done and changes nothing: missing values leave nothing to prove.
VACUOUS = {
    ("best", side, "missing values", "frobenius", "certificate None")
    for side in ("samples", "features")
}


def fit(algorithm, orthogonal, data, loss, many=False, **options):
    X, k = MANY if many else FEW, 12 if data == "full rank" else 4  # 12 is the smaller side
    X = X.T.copy() if orthogonal == "features" else X.copy()
    if data == "missing values":
        X[3, 4] = np.nan
        options["missing_values"] = np.nan
    if isinstance(options.get("init"), np.ndarray):
        options["init"] = options["init"][:, : X.shape[1]]
    told = {"orthogonal": orthogonal, "algorithm": algorithm, "beta_loss": loss}
    options = {**told, "random_state": 0, **options}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        return orthonmf.factorize(X, k, **options)


def outcome(result):
    proven = result.certificate
    told = (result.steps_run, result.n_sweeps, result.history, proven.method, proven.lower_bound)
    return (*told, result.components.tobytes())


@cache
def outcome_of_defaults(problem, many):
    return outcome(fit(*problem, many=many))


def attempted(problem, options):
    """The factorization, or the words of a refusal."""
    try:
        return fit(*problem, **options), ""
    except InvalidInputError as error:
        return None, str(error)


@pytest.mark.parametrize(("problem", "option", "value"), CASES)
def test_every_option_makes_a_difference_or_is_refused(
    problem, option, value, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    many = option in ("init", "kmeans", "tol", "max_iter")
    result, refusal = attempted(problem, {option: value, "many": many})
    if problem not in ALGORITHMS:
        assert "no algorithm for" in refusal or f"{option}=" in refusal or f"{option} " in refusal
    elif refusal:
        assert refusal.startswith((f"{option}={value!r} would be ignored", f"{option} would be"))
        assert "; leave it out, or use " in refusal
    elif option == "checkpoint":
        assert (tmp_path / value).exists()
    else:
        same = outcome(result) == outcome_of_defaults(problem, many)
        told = f"certificate {value}" if option == "certificate" else option
        assert same == ((*problem, told) in VACUOUS)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kmeans": "ls++"}, "kmeans='ls\\+\\+' would.*use algorithm='paper'$"),
        ({"algorithm": "paper", "init": "lines"}, "init='lines' would.*algorithm='best'$"),
        (
            {"orthogonal": "both", "init": "lines"},
            "init='lines' would.*orthogonal='samples' or orthogonal='features'$",
        ),
        ({"kmeans": in_two_parts, "algorithm": "paper", "tol": 0.1}, "tol=0.1 would.*kmeans"),
        ({"init": COMPONENTS[:2, :12], "n_init": 4}, "n_init=4 would.*init"),
    ],
)
def test_a_refusal_says_what_to_do_instead(options, message):
    with pytest.raises(InvalidInputError, match=message):
        orthonmf.factorize(FEW, 3, **options)


@pytest.mark.parametrize(
    "options",
    [{"algorithm": "paper"}, {"init": "k-means||"}, {"certificate": "tight"}],
    ids=str,
)
def test_missing_values_refuse_what_they_cannot_use(options):
    X = FEW.copy()
    assert orthonmf.factorize(X, 2, missing_values=np.nan, **options).n_components_found == 2
    X[2, 3] = np.nan
    with pytest.raises(InvalidInputError, match=r"missing values.*\(impute them\)"):
        orthonmf.factorize(X, 2, missing_values=np.nan, **options)


@pytest.mark.slow
@given(
    algorithm=st.sampled_from(list(NAMES)),
    orthogonal=st.sampled_from(list(SETTINGS)),
    data=st.sampled_from(DATA),
    loss=st.sampled_from(list(LOSSES)),
    chosen=st.fixed_dictionaries(
        {},
        optional={
            "init": st.sampled_from([*INITS, COMPONENTS]),
            "kmeans": st.sampled_from([None, *SUBROUTINES, in_two_parts]),
            "n_init": st.integers(1, 3),
            "max_iter": st.integers(1, 5),
            "tol": st.sampled_from([0.0, 1e-4, 0.5]),
        },
    ),
)
def test_several_options_at_once_are_used_or_one_of_them_is_named(
    algorithm, orthogonal, data, loss, chosen
):
    problem = (algorithm, orthogonal, data, loss)
    result, refusal = attempted(problem, {"certificate": None, **chosen})
    if refusal:
        named = refusal.split(" would be ignored")[0].split("=")[0]
        assert refusal.startswith("there is no algorithm for") or named in chosen
    else:
        assert result.orthogonal == orthogonal


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("1GiB", 2**30),
        ("1 gib", 2**30),
        ("1G", 10**9),
        ("1.5KiB", 1536),
        ("250", 250),
        (10**6, 10**6),
        (None, None),
    ],
)
def test_a_size_in_words_is_read_the_same_everywhere(text, size):
    assert as_bytes(text) == size
    if isinstance(text, str):
        assert Reading(max_memory=text).memory == most_bytes(text) == size


GRAPH = (np.random.default_rng(0).random((30, 20)) < 0.3).astype(int)
RANDOM = [np.random.default_rng, np.random.RandomState, np.random.SeedSequence, np.random.PCG64]
DOORS = {
    "factorize": lambda state: orthonmf.factorize(FEW, 3, random_state=state).components,
    "OrthogonalNMF": lambda state: orthonmf.OrthogonalNMF(3, random_state=state).fit(FEW).labels_,
    "BipartiteCorrelationClustering": lambda state: (
        orthonmf.BipartiteCorrelationClustering(n_init=1, random_state=state).fit(GRAPH).row_labels_
    ),
    "make_planted": lambda state: make_planted(20, 12, 3, 0.5, random_state=state).X,
    "solve": lambda state: (
        orthonmf.baselines.solve("nmf", FEW, 3, max_iter=9, random_state=state).A
    ),
    "select_n_components": lambda state: (
        orthonmf.select_n_components(FEW, [2], n_repetitions=1, random_state=state)
        .trials[0]
        .null_error
    ),
}


@pytest.mark.parametrize(("door", "seeded"), zip(DOORS, 2 * RANDOM, strict=False))
def test_every_door_takes_any_source_of_random_numbers(door, seeded):
    np.testing.assert_array_equal(DOORS[door](seeded(3)), DOORS[door](seeded(3)))


# Sizes are known before work: what cannot be used is cut, what cannot be held is refused.
WIDE = csr_array((np.ones(50), (np.arange(50), np.arange(50) * 1000)), shape=(50, 10**12))
HUGE = 10**15


@pytest.mark.parametrize("problem", [p for p in ALGORITHMS if p.data != CORE], ids=str)
def test_more_components_than_can_be_used_are_asked_for_and_told(problem):
    data, options = FEW.copy(), {}
    if problem.data == "missing values":
        data[2, 3], options = np.nan, {"missing_values": np.nan}
    told = {"algorithm": problem.algorithm, "beta_loss": problem.beta_loss}
    fit = {"orthogonal": problem.orthogonal, **told, **options}
    with pytest.warns(orthonmf.FewerComponentsWarning, match=f"of the {HUGE} components"):
        result = orthonmf.factorize(data, HUGE, random_state=0, **fit)
    most = {"samples": 20, "features": 12, "both": 12}[problem.orthogonal]
    assert result.n_components == HUGE
    assert result.n_components_found <= most
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        fewer = orthonmf.factorize(data, most, random_state=0, **fit)
    np.testing.assert_array_equal(result.components, fewer.components)


def test_components_to_start_from_may_be_more_than_the_samples():
    given = np.random.default_rng(0).random((6, 12))
    with pytest.warns(orthonmf.FewerComponentsWarning):
        result = orthonmf.factorize(FEW[:4], 8, init=given, random_state=0)
    assert result.n_components_found <= 4


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
@pytest.mark.parametrize("algorithm", ["best", "paper"])
def test_a_result_that_no_memory_holds_is_refused_before_the_data_are_read(algorithm, orthogonal):
    with pytest.raises(orthonmf.OrthoNMFError, match=r"320.0 TB, but .* available; ask") as caught:
        orthonmf.factorize(WIDE, 40, orthogonal=orthogonal, algorithm=algorithm)
    assert isinstance(caught.value, MemoryError)
    # A list has no shape: it is read, and refused before the fit.
    with pytest.raises(MemoryError, match="1,000,000 components"):
        orthonmf.factorize([[1.0] * 10**6], 10**6, orthogonal="features")


SIZES = [
    (csr_array(random_entries(50, 60_000, 1e-3, random_state=0)), 5),
    (csr_array(random_entries(1000, 5000, 5e-3, random_state=0)), 30),
    (np.random.default_rng(0).random((60, 20_000)), 8),
]


@pytest.mark.slow
@pytest.mark.parametrize(("data", "k"), SIZES, ids=["wide", "many", "dense"])
@pytest.mark.parametrize(
    ("orthogonal", "algorithm"), [("samples", "best"), ("both", "best"), ("both", "paper")]
)
def test_the_estimate_is_near_what_a_fit_takes(data, k, orthogonal, algorithm):
    # More sweeps would take longer, not more memory.
    options = {"orthogonal": orthogonal, "algorithm": algorithm, "random_state": 0, "max_iter": 3}
    chosen = ALGORITHMS[Problem(algorithm, orthogonal, COMPLETE)]
    estimate = fit_bytes(as_matrix(data), chosen, some_options(k, orthogonal=orthogonal))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", orthonmf.FewerComponentsWarning)
        tracemalloc.start()
        try:
            result = orthonmf.factorize(data, k, certificate=None, n_jobs=1, **options)
            peak = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    print(f"estimated {decimal(estimate)}, taken {decimal(peak)}")
    assert estimate >= result.components.nbytes + result.labels.nbytes + result.scales.nbytes
    assert peak / 2 <= estimate <= 3 * peak


@pytest.mark.skipif(sys.platform != "linux", reason="the size of a process is read from /proc")
@pytest.mark.slow
@pytest.mark.parametrize("limit", ["RLIMIT_AS", "RLIMIT_DATA"])
def test_a_limit_of_the_process_is_seen(limit):
    code = (
        "import resource\n"
        "import numpy as np, orthonmf\n"
        "from scipy.sparse import csr_array\n"
        "from orthonmf.engine.memory import available_memory\n"
        f"resource.setrlimit(resource.{limit}, (4 * 2**30,) * 2)\n"
        "assert 0 < available_memory() < 4 * 2**30\n"
        "orthonmf.factorize(np.ones((30, 20)), 2, random_state=0, n_jobs=1, certificate=None)\n"
        "try:\n"
        "    wide = csr_array((np.ones(40), (range(40), range(40))), shape=(40, 2 * 10**7))\n"
        "    orthonmf.factorize(wide, 35, certificate=None)\n"
        "except MemoryError as error:\n"
        "    print(type(error).__name__)\n"
    )
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False
    )
    assert done.stdout == "TooLargeError\n", done.stderr
