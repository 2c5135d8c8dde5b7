"""Results as LaTeX: the medians of every experiment, one table for each panel."""

from __future__ import annotations

from orthonmf.reproduction.panels import TIME, Panel, panels_of
from orthonmf.reproduction.summary import DEFINITIONS, Measured, label, level_word

SPECIAL = {one: f"\\{one}" for one in "&%$#_{}"} | {
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "\\": r"\textbackslash{}",
}
HEAD = "% Medians over the seeds, as in summary.csv; needs the package booktabs.\n"


def latex_tables(measured: Measured) -> str:
    """All experiments that have levels, with the smallest median of every column in bold."""
    return HEAD + "".join(
        _table(measured, name, panel)
        for name in measured.experiments()
        if name != "real-data"
        for panel in panels_of(name)
    )


def _table(measured: Measured, experiment: str, panel: Panel) -> str:
    groups, levels = measured.by_method(experiment)
    medians = [measured.medians(experiment, one, panel.measure) for one in groups]
    columns = [[one.get(at) for one in medians] for at in levels]
    cells = list(zip(*([_show(one, column) for one in column] for column in columns), strict=True))
    rows = [" & ".join([escape(label(one)), *row]) for one, row in zip(groups, cells, strict=True)]
    unit = ", seconds" if panel is TIME else ""
    head = " & ".join(["method", *(f"{at:g}" for at in levels)])
    return "\n".join(
        [
            "",
            r"\begin{table}",
            rf"\caption{{{escape(DEFINITIONS[experiment].title)}: {escape(panel.title.lower())}"
            rf"{unit}, by {level_word(experiment)}}}",
            rf"\begin{{tabular}}{{l{'r' * len(levels)}}}",
            r"\toprule",
            rf"{head} \\",
            r"\midrule",
            *(rf"{row} \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
            "",
        ]
    )


def _show(value: float | None, column: list[float | None]) -> str:
    if value is None:
        return "--"
    smallest = min(one for one in column if one is not None)
    text = f"{value:.4g}"
    return rf"\textbf{{{text}}}" if value == smallest else text


def escape(text: str) -> str:
    """A text in which LaTeX finds no command."""
    return "".join(SPECIAL.get(one, one) for one in text)
