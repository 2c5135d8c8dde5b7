"""``orthant demo``: a real data set in every setting, ending in one table."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from sklearn.datasets import load_digits

from orthant.factorization import Factorization
from orthant.fitting import factorize
from orthant.measures import non_orthogonality

SETTINGS = ("samples", "features", "both")


def demo(
    components: Annotated[
        int, typer.Option("--components", "-k", help="How many parts.", min=1)
    ] = 10,
    seed: Annotated[int, typer.Option(help="Seed of the random choices.", min=0)] = 0,
) -> None:
    """Factorize 1,797 images of handwritten digits in every setting and show the table."""
    X = load_digits().data
    console = Console()
    console.print(f"Handwritten digits: {X.shape[0]:,} images of {X.shape[1]} pixels each.")
    results = [
        factorize(X, components, orthogonal=setting, random_state=seed) for setting in SETTINGS
    ]
    console.print(results_table(results, components))
    for result in results:
        console.print(f"[bold]{result.orthogonal}[/bold]: {result.certificate}.")


def results_table(results: list[Factorization], n_components: int) -> Table:
    """One row per result: how large the error is, what is exact and what is proven."""
    table = Table(title=f"Orthogonal factorization into {n_components} parts")
    table.add_column("parts share no")
    for heading in ("error", "relative\nsq. error", "exactly\northogonal", "proven\nratio"):
        table.add_column(heading, justify="right")
    table.add_column("seconds", justify="right")
    for result in results:
        ratio = result.certificate.ratio
        table.add_row(
            "sample or feature" if result.orthogonal == "both" else result.orthogonal[:-1],
            f"{result.error:.1f}",
            f"{result.relative_squared_error:.4f}",
            "yes" if is_exactly_orthogonal(result) else "no",
            "-" if ratio is None else f"{ratio:.3f}",
            f"{result.seconds:.3f}",
        )
    return table


def is_exactly_orthogonal(result: Factorization) -> bool:
    """Whether the factors that should be orthogonal are, to the last bit."""
    checked = [result.W] if result.orthogonal != "features" else []
    if result.orthogonal != "samples":
        checked.append(result.A.T)
    return all(non_orthogonality(factor) == 0.0 for factor in checked)
