"""What tests of passes share: matrices in several blocks, however small, and a Dask cluster."""

import pytest

from orthonmf.engine import sources
from tests.engine.weighted import STORES


@pytest.fixture(params=STORES)
def store(request, monkeypatch):
    """A way to store a matrix, dense or sparse, which then has several blocks."""
    monkeypatch.setattr(sources, "FEWEST_ENTRIES", 30)
    monkeypatch.setattr(sources, "SPARSE_ENTRIES", 20)
    return STORES[request.param]


@pytest.fixture(scope="module")
def cluster():
    """Two workers of two threads each, all in this process."""
    distributed = pytest.importorskip("distributed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=2, processes=False, dashboard_address="127.0.0.1:0"
    ) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def client(cluster):
    distributed = pytest.importorskip("distributed")
    with distributed.Client(cluster, set_as_default=False) as client:
        yield client


@pytest.fixture
def current(client):
    with client.as_current():
        yield client
