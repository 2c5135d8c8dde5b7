"""Certificates are timed on the answer of one fit, the tight one proving no less."""

import pytest

from orthonmf.bench.certificates import CertificatesTask, time_certificates
from orthonmf.bench.data import Data
from orthonmf.bench.definition import certificates, tasks_of
from orthonmf.bench.table import rich_table

pytestmark = pytest.mark.slow  # all together take long

DATA = Data("planted", 60, 12, 3)


def test_both_certificates_of_one_answer():
    found = time_certificates(DATA, "samples", n_init=1)
    assert 1.0 <= found["tight_ratio"] <= found["svd_ratio"]
    assert found["n_components_found"] == 3
    assert found["peak_bytes"] is None or found["peak_bytes"] > 10**6


def test_a_row_for_every_set_and_setting_and_only_by_name():
    tasks = certificates(False)
    assert len(tasks) == 15
    assert {task.orthogonal for task in tasks} == {"samples", "features", "both"}
    assert not any(isinstance(task, CertificatesTask) for task in tasks_of(None))
    assert tasks_of("certificates") == tasks


def test_the_table_shows_ratios():
    (row,) = CertificatesTask(DATA, "both", n_init=1).rows(lambda what: None)
    drawn = rich_table("certificates", [row])
    assert [str(column.header) for column in drawn.columns][3:5] == ["svd\nratio", "svd\nseconds"]
