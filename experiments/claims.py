"""The paper's empirical claims as data: what is said, where, and the rule that decides it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from experiments import checks as c
from experiments.checks import Bound, CannotError, Runs, Verdict, every_level
from experiments.paper import EARLIER, EARLIER_DOUBLE, ONMF_APX, PUBLISHED

EM = "em-onmf"
SOFT = tuple(name for name in EARLIER if name != EM)  # those that do not guarantee orthogonality
DOUBLE = ("nmf", *EARLIER_DOUBLE)
ROWS_OF_W, EITHER = "non_orthogonality", "either_non_orthogonality"
EVERY_NOISE = "at every noise level above 0"  # at 0 errors are rounding, and ratios mean nothing
FASTER_RULE = (
    f"Medians at every level: each other method takes at least {c.MUCH_FASTER:g} times as long. "
    "Seconds of the authors' machine cannot be compared; the ratio on one machine can."
)


@dataclass(frozen=True, slots=True)
class Claim:
    """A statement of the paper in our words, where it stands, and the rule that decides it."""

    id: str
    where: str
    statement: str
    rule: str
    check: Callable[[Runs], Verdict]


def judge(results: pd.DataFrame) -> dict[str, list[tuple[Claim, Verdict]]]:
    """Every claim with its verdict, by experiment; results as `tables.read_results` has them."""
    verdicts = {}
    for experiment, claims in CLAIMS.items():
        own = results[results["experiment"] == experiment]
        runs = Runs(experiment, own[~own["missing"]], own[own["missing"]])
        verdicts[experiment] = [(claim, _verdict(claim, runs)) for claim in claims]
    return verdicts


def judge_instead(results: pd.DataFrame, method: str) -> dict[str, Verdict]:
    """The verdicts by claim if another method, such as its best of ten, were the paper's."""
    others = results[results["method"] != ONMF_APX]
    renamed = others.assign(method=others["method"].astype(str).replace(method, ONMF_APX))
    judged = judge(renamed).values()
    return {claim.id: verdict for claims in judged for claim, verdict in claims}


def _verdict(claim: Claim, runs: Runs) -> Verdict:
    try:
        return claim.check(runs)
    except CannotError as error:
        return Verdict(c.CANNOT, str(error))


def by(rule: Callable[..., Verdict], *about: Any, **more: Any) -> Callable[[Runs], Verdict]:
    """The check of one claim: a rule that several share, and what this claim is about."""
    return lambda runs: rule(runs, *about, **more)


def _below(measures: Sequence[str]) -> list[Bound]:
    return [Bound(measure, "min", "the smallest of the others", high=1.0) for measure in measures]


def _orthogonal(identity: str, where: str) -> Claim:
    check = by(c.exactly_orthogonal, (ONMF_APX,), ROWS_OF_W)
    rule = "The non-orthogonality is exactly 0 in every run."
    return Claim(identity, where, "ONMF-apx is perfectly orthogonal.", rule, check)


def _claim_planted(identity: str, where: str, times: int) -> Claim:
    said = (
        f"The planted solution's reconstruction error concentrates around {times} times the noise."
    )
    rule = f"Every matrix within {c.DEVIATIONS:g} standard deviations of the paper's Fact."
    return Claim(identity, where, said, rule, c.planted_concentrates)


def _faster(identity: str, where: str, others: Sequence[str], statement: str) -> Claim:
    return Claim(identity, where, statement, FASTER_RULE, by(c.much_faster, others))


_EXPERIMENT_1 = (
    _orthogonal("orthogonal-1", "Section 5, experiment 1"),
    Claim(
        "others-not-orthogonal", "Section 5, experiment 1",
        "Of the earlier methods only EM-ONMF returns perfectly orthogonal rows.",
        "Exactly 0 in every run of EM-ONMF and in no run of the other six.",
        by(c.exactly_orthogonal, (EM,), ROWS_OF_W, never=SOFT),
    ),
    Claim(
        "similar-error", "Section 5, opening and experiment 1",
        "The approximation error is similar to that of the six methods that do not guarantee "
        "orthogonality.",
        f"Both errors at most {c.SIMILAR:.0%} above the middle of the six, {EVERY_NOISE}.",
        by(every_level, SOFT, [
            Bound(measure, "median", "the middle of the six", high=1 + c.SIMILAR)
            for measure in c.ERRORS
        ]),
    ),
    Claim(
        "recovery-better", "Section 5, experiment 1",
        "The recovery error is slightly better than that of the earlier methods.",
        f"Below each of the six methods that do not guarantee orthogonality, {EVERY_NOISE}.",
        by(every_level, SOFT, _below(c.ERRORS[:1])),
    ),
    Claim(
        "reconstruction-worse", "Section 5, experiment 1",
        "The reconstruction error is slightly worse than that of the earlier methods.",
        f"Not below any of the six, and at most {c.SLIGHT:.0%} above their smallest, "
        f"{EVERY_NOISE}.",
        by(every_level, SOFT, [
            Bound("reconstruction_error", "max", "the largest of the six", low=1.0),
            Bound("reconstruction_error", "min", "the smallest of the six", high=1 + c.SLIGHT),
        ]),
    ),
    Claim(
        "below-planted-1", "Section 5, experiment 1",
        "ONMF-apx fits the input better than the planted solution does.",
        f"Its median reconstruction error is below the planted solution's, {EVERY_NOISE}.",
        by(c.below_planted, (ONMF_APX,)),
    ),
    Claim(
        "most-below-planted-1", "Section 5, experiment 1",
        "So do most of the other methods.",
        f"More than half of the seven earlier methods, {EVERY_NOISE}.",
        by(c.below_planted, EARLIER),
    ),
    _claim_planted("planted-1000", "Section 5, experiment 1", 1000),
    Claim(
        "em-variance", "Section 5, experiment 1",
        "The error of EM-ONMF varies strongly from run to run.",
        "The range of its reconstruction error over the seeds is at least "
        f"{c.HIGH_SPREAD:g} times the middle range of the other six, at most noise levels.",
        by(c.wide_spread, EM, SOFT),
    ),
    Claim(
        "em-zero-noise", "Section 5, opening",
        "EM-ONMF ends in poor local minima and has a large error even without noise.",
        f"At noise 0 its median relative squared error is above {c.LARGE_ERROR:.0%}.",
        by(c.large_error_without_noise, EM),
    ),
    Claim(
        "better-than-em", "Section 5, opening",
        "ONMF-apx performs better than EM-ONMF, which is as orthogonal.",
        "Both errors are below EM-ONMF's at every noise level.",
        by(every_level, (EM,), _below(c.ERRORS), c.all_levels),
    ),
    _faster("faster-1", "Section 5, experiment 1", EARLIER,
            "ONMF-apx is significantly faster than all other methods."),
    Claim(
        "onmfs-slow", "Section 5, opening and experiment 1",
        "ONMFS scales badly with the inner dimension and does not finish here in reasonable time.",
        "Every run of ONMFS in experiment 1 is ended by the time limit.",
        c.onmfs_does_not_finish,
    ),
)  # fmt: skip

_EXPERIMENT_2 = (
    Claim(
        "better-than-onmfs", "Section 5, experiment 2",
        "ONMF-apx has smaller errors than ONMFS.",
        f"Both errors are below those of ONMFS, {EVERY_NOISE}. ONMFS here keeps the best of its "
        "samples. At this size that is within 0.1% of the smallest reconstruction error known, so "
        "a single start of k-means++ cannot be expected to beat it. A program that returned its "
        "last sample instead could well lose; which one the paper ran is not known.",
        by(every_level, ("onmfs",), [
            Bound(measure, "min", "that of ONMFS", high=1.0) for measure in c.ERRORS
        ]),
    ),
    Claim(
        "orthogonal-2", "Section 5, experiment 2",
        "Both ONMF-apx and ONMFS are perfectly orthogonal.",
        "The non-orthogonality is exactly 0 in every run of both.",
        by(c.exactly_orthogonal, (ONMF_APX, "onmfs"), ROWS_OF_W),
    ),
    _faster("faster-2", "Section 5, opening", ("onmfs",),
            "ONMF-apx is significantly faster than ONMFS."),
)  # fmt: skip

_INNER_DIMENSIONS = (
    _orthogonal("orthogonal-k", "Appendix, inner dimensions"),
    _faster("faster-k", "Appendix, inner dimensions", EARLIER,
            "ONMF-apx is significantly faster for every number of components."),
    Claim(
        "recovery-k", "Appendix, inner dimensions",
        "ONMF-apx has smaller recovery errors than most earlier methods.",
        "Below more than half of the seven earlier methods, at every number of components.",
        by(c.below_most, EARLIER, "recovery_error"),
    ),
    Claim(
        "trend-k", "Appendix, inner dimensions",
        "With more components the recovery error grows and the reconstruction error falls.",
        "From the fewest to the most components, for more than half of the eight methods.",
        by(c.trend, (ONMF_APX, *EARLIER)),
    ),
    Claim(
        "little-change-k", "Appendix, inner dimensions",
        "The change of the errors with the number of components is insignificant.",
        f"Both errors change by at most {c.SLIGHT:.0%} between the fewest and the most components, "
        "for more than half of the eight methods.",
        by(c.little_change, (ONMF_APX, *EARLIER)),
    ),
    Claim(
        "changes-least-k", "Appendix, inner dimensions",
        "The errors of ONMF-apx change least with the number of components.",
        "For both errors, the range of its medians over their smallest is below every other's.",
        by(c.changes_least, EARLIER),
    ),
)  # fmt: skip

_DOUBLE_FACTOR = (
    Claim(
        "orthogonal-double", "Appendix, two orthogonal factors",
        "ONMF-apx is perfectly orthogonal in both factors.",
        "Both non-orthogonalities are exactly 0 in every run.",
        by(c.exactly_orthogonal, (ONMF_APX,), EITHER),
    ),
    Claim(
        "others-not-double", "Section 5, opening",
        "No earlier method for two orthogonal factors is perfectly orthogonal.",
        "No run of an earlier method is exactly 0 in both factors.",
        by(c.exactly_orthogonal, (), EITHER, never=DOUBLE),
    ),
    Claim(
        "recovery-double", "Appendix, two orthogonal factors",
        "ONMF-apx has the better recovery error when the noise is below 0.5.",
        "Below each other method at every noise level under 0.5, 0 included.",
        by(every_level, DOUBLE, _below(c.ERRORS[:1]), lambda at: at < 0.5),
    ),
    Claim(
        "error-double", "Section 5, opening",
        "ONMF-apx has a lower error than the earlier methods for two orthogonal factors.",
        "Both errors are below those of ONMF-Ding-double and its noisy form, at every noise level.",
        by(every_level, EARLIER_DOUBLE, _below(c.ERRORS), c.all_levels),
    ),
    Claim(
        "most-below-planted-double", "Appendix, two orthogonal factors",
        "Most methods fit the input better than the planted solution does.",
        f"More than half of the four methods, {EVERY_NOISE}.",
        by(c.below_planted, (ONMF_APX, *DOUBLE)),
    ),
    _claim_planted("planted-316", "Appendix, two orthogonal factors", 316),
    Claim(
        "ding-iterations", "Appendix, two orthogonal factors",
        "ONMF-Ding-double takes more and more iterations as the noise goes to zero.",
        "The median number of iterations is larger at the smallest noise above 0 than at the "
        "largest. Runs that a limit ends there and that show no difference decide nothing.",
        c.more_iterations_with_less_noise,
    ),
    Claim(
        "ding-stuck", "Appendix, two orthogonal factors",
        "ONMF-Ding-double gets stuck at a suboptimal solution when there is no noise.",
        f"At noise 0 its median relative squared error is above {c.LARGE_ERROR:.0%}.",
        by(c.large_error_without_noise, "onmf-ding-double"),
    ),
    Claim(
        "noisy-helps", "Appendix, two orthogonal factors",
        "A little noise added to the input helps ONMF-Ding-double there.",
        "At noise 0 the median recovery error is smaller with the added noise.",
        c.noisy_helps_without_noise,
    ),
    Claim(
        "noisy-inflates", "Appendix, two orthogonal factors",
        "The added noise makes the recovery error slightly larger.",
        "The median recovery error is larger with it at more than half of the noise levels "
        "above 0.",
        c.noisy_inflates,
    ),
    _faster("faster-double", "Section 5, opening", DOUBLE,
            "ONMF-apx is significantly faster for two orthogonal factors as well."),
)  # fmt: skip

_REAL_DATA = (
    Claim(
        "table-similar", "Appendix, Table 1",
        "On every real set the error is similar to the best of Asteris et al.",
        f"On one side, the same for all sets measured, the median of the single starts is at most "
        f"{c.SIMILAR:.0%} above the value of Asteris et al.",
        by(c.against_asteris, names=tuple(PUBLISHED), below=1 + c.SIMILAR),
    ),
    Claim(
        "table-smaller", "Appendix, Table 1",
        "On Arcene Train and Mfeat Pix the error is slightly smaller than theirs.",
        "On one side, the same for both, the median of the single starts is below their value.",
        by(
            c.against_asteris,
            names=("arcene-train", "mfeat-pix"), below=1 - 1e-12, all_needed=True,
        ),
    ),
    *(
        Claim(
            f"table-{name}", "Appendix, Table 1",
            f"{known.label}: the relative squared error is {known.published:.4f}.",
            "The value lies between the smallest and the largest of the single starts, to its "
            "four digits, on at least one side. No seed is chosen.",
            by(c.in_range, name=name),
        )
        for name, known in PUBLISHED.items()
    ),
)  # fmt: skip

CLAIMS = {
    "experiment-1": _EXPERIMENT_1,
    "experiment-2": _EXPERIMENT_2,
    "inner-dimensions": _INNER_DIMENSIONS,
    "double-factor": _DOUBLE_FACTOR,
    "real-data": _REAL_DATA,
}
