"""Every claim agrees with results made for it, differs from changed ones, misses absent ones."""

from dataclasses import replace

import pytest

from orthonmf.reproduction.claims import CLAIMS, judge
from orthonmf.reproduction.paper import PUBLISHED
from orthonmf.reproduction.summary import Measured
from orthonmf.reproduction.verdicts import AGREE, CANNOT, DIFFER, NEARLY
from tests.reproduction.made_results import SOFT, changed, made_rows, times

BY_ID = {claim.id: (claim, name) for name, claims in CLAIMS.items() for claim in claims}


def verdict_of(name, rows):
    claim, experiment = BY_ID[name]
    return claim.judge(Measured(rows), experiment)


def of(experiment, *methods, **values):
    def where(row):
        fits = all(getattr(row, name) == value for name, value in values.items())
        return row.experiment == experiment and row.method in methods and fits

    return where


def table(*names):
    return changed(
        lambda row: row.dataset in names,
        relative_squared_error=times("relative_squared_error", 1.2),
    )


ONE, TWO, INNER, DOUBLE = "experiment-1", "experiment-2", "inner-dimensions", "double-factor"
DING, NOISY = "onmf-ding-double", "onmf-ding-double-noisy"
MEASURED_SETS = tuple(name for name in PUBLISHED if name != "pems-train")

# For every claim a change of the results after which it no longer holds.
CHANGES = {
    "orthogonal-1": changed(of(ONE, "onmf-apx", seed=2, noise=0.3), non_orthogonality=5e-324),
    "others-not-orthogonal": changed(of(ONE, "hals", seed=2, noise=1.0), non_orthogonality=0.0),
    "similar-error": changed(
        of(ONE, "onmf-apx", noise=0.2), reconstruction_error=times("reconstruction_error", 1.06)
    ),
    "recovery-better": changed(
        of(ONE, "onmf-apx", noise=0.7), recovery_error=times("recovery_error", 1.06)
    ),
    "reconstruction-worse": changed(
        of(ONE, "onmf-apx", noise=0.7), reconstruction_error=times("reconstruction_error", 0.9)
    ),
    "below-planted-1": changed(
        of(ONE, "onmf-apx", noise=0.7), reconstruction_error=times("reconstruction_error", 1.03)
    ),
    "most-below-planted-1": changed(
        of(ONE, *SOFT[:3], noise=0.5), reconstruction_error=times("reconstruction_error", 1.1)
    ),
    "planted-1000": changed(
        lambda row: row.experiment == ONE and row.seed == 1 and row.noise == 0.1,
        planted_error=times("planted_error", 1.01),
    ),
    "em-variance": changed(
        of(ONE, "em-onmf"), reconstruction_error=lambda row: 1.1 * row.planted_error + 200
    ),
    "em-zero-noise": changed(of(ONE, "em-onmf", noise=0.0), relative_squared_error=0.009),
    "better-than-em": changed(of(ONE, "em-onmf", noise=0.5), recovery_error=100.0),
    "faster-1": changed(of(ONE, "hals", noise=0.5), seconds=0.025),
    "onmfs-slow": changed(of(ONE, "onmfs"), stop_reason="finished"),
    "better-than-onmfs": changed(
        of(TWO, "onmfs", noise=0.5), reconstruction_error=times("reconstruction_error", 0.8)
    ),
    "orthogonal-2": changed(of(TWO, "onmfs", seed=0, noise=0.0), non_orthogonality=0.1),
    "faster-2": changed(of(TWO, "onmfs", noise=0.0), seconds=0.02),
    "orthogonal-k": changed(of(INNER, "onmf-apx", seed=6, n_components=2), non_orthogonality=1.0),
    "faster-k": changed(of(INNER, "nhl", n_components=50), seconds=0.001),
    "recovery-k": changed(
        of(INNER, "onmf-apx", n_components=5), recovery_error=times("recovery_error", 1.2)
    ),
    "trend-k": changed(of(INNER, *SOFT[:4]), recovery_error=100.0),
    "little-change-k": changed(
        of(INNER, *SOFT[:4], n_components=50), recovery_error=times("recovery_error", 1.2)
    ),
    "changes-least-k": changed(
        of(INNER, "onmf-apx", n_components=10), recovery_error=times("recovery_error", 1.2)
    ),
    "orthogonal-double": changed(
        of(DOUBLE, "onmf-apx", seed=0, noise=0.5), column_non_orthogonality=1e-16
    ),
    "others-not-double": changed(
        of(DOUBLE, DING, seed=0, noise=0.5), column_non_orthogonality=0.0, non_orthogonality=0.0
    ),
    "recovery-double": changed(
        of(DOUBLE, "onmf-apx", noise=0.3), recovery_error=times("recovery_error", 1.2)
    ),
    "error-double": changed(
        of(DOUBLE, DING, noise=0.7), reconstruction_error=times("reconstruction_error", 0.9)
    ),
    "most-below-planted-double": changed(
        of(DOUBLE, DING, NOISY, noise=1.0), reconstruction_error=times("reconstruction_error", 1.1)
    ),
    "planted-316": changed(
        lambda row: row.experiment == DOUBLE and row.seed == 1 and row.noise == 0.1,
        planted_error=times("planted_error", 1.05),
    ),
    "ding-iterations": changed(of(DOUBLE, DING), iterations=100),
    "ding-stuck": changed(of(DOUBLE, DING, noise=0.0), relative_squared_error=0.001),
    "noisy-helps": changed(of(DOUBLE, NOISY, noise=0.0), recovery_error=101.0),
    "noisy-inflates": changed(of(DOUBLE, NOISY), recovery_error=times("recovery_error", 0.9)),
    "faster-double": changed(of(DOUBLE, "nmf", noise=0.01), seconds=0.02),
    "table-similar": table("bow-kos"),
    "table-smaller": table("arcene-train"),
    **{f"table-{name}": table(name) for name in PUBLISHED},
}


@pytest.fixture(scope="module")
def agreeing():
    """All runs, and beyond the plan those that two claims need to be decided."""
    rows = made_rows()
    first = [row for row in rows if row.experiment == ONE and row.method == "nmf"]
    rows += [replace(row, method="onmfs", stop_reason="time_limit") for row in first]
    near = {0: 0.1275, 1: 0.1283}
    return [
        replace(row, relative_squared_error=near.get(row.seed, 0.1279), stop_reason="finished")
        if row.dataset == "pems-train"
        else row
        for row in rows
    ]


def test_every_claim_has_a_change_that_refutes_it():
    assert set(CHANGES) == set(BY_ID)
    assert len(BY_ID) == sum(map(len, CLAIMS.values()))


@pytest.mark.parametrize("name", BY_ID)
def test_a_claim_agrees_where_it_holds_and_differs_where_it_does_not(agreeing, name):
    assert verdict_of(name, agreeing).verdict == AGREE
    assert verdict_of(name, map(CHANGES[name], agreeing)).verdict in (NEARLY, DIFFER)


def test_nothing_can_be_checked_without_runs():
    verdicts = [one for found in judge(Measured([])).values() for _, one in found]
    assert {one.verdict for one in verdicts} == {CANNOT}
    assert all(one.evidence.endswith(".") for one in verdicts)


def test_the_plan_itself_leaves_two_claims_open():
    found = judge(Measured(made_rows()))
    open_claims = {
        claim.id: one.evidence
        for pairs in found.values()
        for claim, one in pairs
        if one.verdict == CANNOT
    }
    assert set(open_claims) == {"onmfs-slow", "table-pems-train"}
    assert open_claims["table-pems-train"] == "Not measured: the set cannot be had."


def test_a_missing_method_is_named():
    rows = [row for row in made_rows() if row.method != "hals"]
    found = verdict_of("recovery-better", rows)
    assert found.verdict == CANNOT
    assert found.evidence == "No results of HALS in experiment-1 are in."


def test_runs_without_a_time_decide_nothing_about_speed():
    rows = [replace(row, seconds=None, serial=0) for row in made_rows()]
    found = verdict_of("faster-1", rows)
    assert found.verdict == CANNOT
    assert found.evidence.startswith("No serially timed runs of ONMF-apx")


def test_evidence_names_levels_factors_and_limited_runs(agreeing):
    slow = changed(of(ONE, "nhl", noise=0.5), seconds=0.013, stop_reason="time_limit")
    found = verdict_of("faster-1", map(slow, agreeing))
    assert found.evidence == (
        "Holds at 8 of 9 noise levels, not at 0.5. Smallest factor 1 (NHL at 0.5), largest 100 "
        "(NMF at 0). 7 of these 504 runs were ended by the time limit."
    )


def test_failed_runs_are_left_out_and_counted(agreeing):
    lost = changed(
        of(ONE, "nhl", seed=0), recovery_error=None, reconstruction_error=None,
        relative_squared_error=None, stop_reason="failed: too <large>",
    )  # fmt: skip
    found = verdict_of("recovery-better", map(lost, agreeing))
    assert found.verdict == AGREE
    assert found.evidence.endswith("9 of these 441 runs failed and are left out.")


def test_ding_runs_ended_by_a_limit_decide_nothing_without_a_difference(agreeing):
    cut = changed(of(DOUBLE, DING), iterations=100, stop_reason="time_limit")
    assert verdict_of("ding-iterations", map(cut, agreeing)).verdict == CANNOT


def test_one_side_of_a_set_is_not_enough_to_differ(agreeing):
    rows = [row for row in agreeing if row.orthogonal != "features"]
    assert verdict_of("table-bow-kos", rows).verdict == CANNOT
    both = verdict_of("table-bow-kos", agreeing).evidence
    assert both == (
        "Within the range over features. Over samples: 0.9951 to 1.0028, median 0.9990, "
        "40 starts (best: 0.9891); over features: 0.7654 to 0.7714, median 0.7684, 40 starts "
        "(best: 0.7608)."
    )


def test_a_near_miss_is_told_from_a_contradiction(agreeing):
    def spoil(most_noise):
        def one(row):
            bad = row.method == "onmf-apx" and 0 < (row.noise or 0) <= most_noise
            return replace(row, recovery_error=row.recovery_error * 3) if bad else row

        return verdict_of("recovery-better", map(one, agreeing))

    near, against = spoil(0.01), spoil(1.0)
    assert (near.verdict, against.verdict) == (NEARLY, DIFFER)
    assert [held for _, held in near.held] == [False] + [True] * (len(near.held) - 1)
    assert not any(held for _, held in against.held)
