"""Results as LaTeX, next to summary.csv."""

from dataclasses import replace

from orthonmf.reproduction.latex import escape, latex_tables
from orthonmf.reproduction.summary import Measured
from tests.reproduction.made_results import made_rows


def test_every_experiment_with_levels_has_its_tables():
    text = latex_tables(Measured(made_rows()))
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 16
    assert "Experiment 1" in text
    assert r"\textbf{" in text
    rows = [line for line in text.splitlines() if line.endswith(r" \\")]
    assert {line.count("&") for line in rows} <= {6, 9}  # as many cells as there are levels


def test_medians_are_those_of_the_rows_and_names_hold_no_commands():
    rows = [
        replace(row, method="my_method", recovery_error=0.125 * (1 + row.seed))
        for row in made_rows()
        if (row.experiment, row.method, row.noise) == ("experiment-1", "nmf", 0.1)
    ]
    text = latex_tables(Measured(rows))
    assert r"my\_method & \textbf{0.5} \\" in text
    assert escape(r"\&") == r"\textbackslash{}\&"
