"""A method of the user in reproduce and bench."""

import pytest

from orthonmf.reproduction.rows import read_rows

PLUGIN = """
from orthonmf.baselines import Baseline, Iterate, register

def iterates(M, k, *, rng):
    yield Iterate(rng.random((M.shape[0], k)), rng.random((k, M.shape[1])))
    return "finished"

register(Baseline("mine", "Mine", ("nowhere",), iterates, max_iter=3, tol=0.0))
"""


@pytest.fixture
def plugin(tmp_path):
    (tmp_path / "mine.py").write_text(PLUGIN)
    return "--plugin", "mine.py"


@pytest.mark.slow
@pytest.mark.parametrize("jobs", [1, 2])
def test_reproduce_runs_it_next_to_others(jobs, plugin, run, tmp_path):
    done = run(
        "reproduce", "experiment-2", "--quick", "--methods", "best,mine", *plugin, "-j", jobs
    )
    assert done.code == 0, done.err
    folder = tmp_path / "reproduction-quick"
    rows = read_rows(folder / "results.csv")
    assert {row.method for row in rows} == {"best", "mine"}
    assert {row.stop_reason for row in rows} == {"finished"}
    assert "Mine &" in (folder / "summary.tex").read_text()


def test_reproduce_refuses_what_it_cannot_run(plugin, run):
    unknown = run("reproduce", "experiment-2", "--methods", "nfm")
    assert unknown.code == 2
    assert "runs no 'nfm'" in unknown.err
    assert "did you mean nmf?" in unknown.err
    real = run("reproduce", "real-data", "--methods", "mine", *plugin)
    assert real.code == 2  # it knows nothing of features


@pytest.mark.slow
def test_bench_runs_it_by_its_name(plugin, run, tmp_path):
    done = run("bench", "mine", "--tiny", *plugin)
    assert done.code == 0, done.err
    assert "mine" in (tmp_path / "orthonmf-bench" / "bench.md").read_text()
