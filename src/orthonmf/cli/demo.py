"""``orthonmf demo``: a real data set in every setting, a table, and a page for each."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from orthonmf.cli import options as o
from orthonmf.cli.certificates import prove
from orthonmf.cli.folder import PAGE, summary_of, write_folder
from orthonmf.cli.terminal import line, progress, prose, table
from orthonmf.factorization import Factorization
from orthonmf.fitting import SETTINGS, factorize
from orthonmf.report import Story, find
from orthonmf.report.chance import captured_by_chance
from orthonmf.report.findings import is_exactly_orthogonal
from orthonmf.report.story import ratio_text

IMAGE = (8, 8)
CORE = (
    "Over both it is n_components=({0}, {0}): {0} groups of images and {0} of pixels, and a core "
    "that says how much every group of images takes of every group of pixels. A single number "
    "asks for disjoint blocks, which suit graphs."
)


def demo(
    components: Annotated[int, o.value("K", "How many parts.", "--components", "-k", min=1)] = 10,
    seed: Annotated[int, o.value("N", "Seed of the random choices.", min=0)] = 0,
    output: Annotated[Path, o.output("Folder to write.", panel=None)] = Path("orthonmf-demo"),
) -> None:
    """Factorize 1,797 images of handwritten digits in every setting, and write the pages."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    X = digits.data
    line(f"Handwritten digits: {X.shape[0]:,} images of {X.shape[1]} pixels each.")
    line()
    names = [f"image {number}: a {digit}" for number, digit in enumerate(digits.target)]
    with progress("factorizing", quiet=False):
        results = [
            factorize(
                X,
                (components, components) if setting == "both" else components,
                orthogonal=setting,
                sample_names=names,
                random_state=seed,
            )
            for setting in SETTINGS
        ]
    with progress("proving", quiet=False):
        results = [prove(result) for result in results]
    _tell(results)
    for result in results:
        prose(f"{result.orthogonal}: {result.certificate}.")
    line()
    prose(CORE.format(components))
    with progress("writing the pages", quiet=False):
        for result in results:
            _write(output, result, X)
    line()
    line("Look at them:")
    for setting in SETTINGS:
        line(f"  {(output / setting / PAGE).resolve()}")
    line()
    line("Next, with a file of yours (csv, npy, npz, mtx, parquet, h5ad, ...):")
    line("  orthonmf select-k FILE --k 2:12      how many components")
    line("  orthonmf fit FILE -k 6 --report      the answer, in a folder with a page")
    line("  orthonmf fit --help                  everything else")


def _write(output: Path, result: Factorization, X: object) -> None:
    findings = find(X, result)
    related = [
        (f"Over {name}", f"../{name}/{PAGE}") for name in SETTINGS if name != result.orthogonal
    ]
    story = Story(
        result,
        findings,
        "1,797 handwritten digits",
        image_shape=IMAGE,
        chance=captured_by_chance(findings.matrix, result),
        related=related,
        by_command=True,
    )
    source = {"file": "sklearn.datasets.load_digits"}
    summary = summary_of(story, source, {"image_shape": "8x8"})
    write_folder(output / result.orthogonal, story, summary, with_page=True)


def _tell(results: list[Factorization]) -> None:
    """One row per result: how large the error is, what is exact and what is proven."""
    rows = [
        (
            result.orthogonal,
            f"{result.error:.1f}",
            f"{result.relative_error:.4f}",
            "yes" if is_exactly_orthogonal(result) else "no",
            ratio_text(result.certificate.ratio),
            f"{result.seconds:.3f} s",
            f"{result.certificate.seconds:>6.3f} s",
        )
        for result in results
    ]
    headings = ("over", "error", "relative", "exact", "ratio", "fit", "proof")
    table(headings, rows)
    line()
    prose(
        "relative: squared error over the squared norm; exact: orthogonal to the last bit; ratio: "
        "to the smallest squared error possible, proven."
    )
