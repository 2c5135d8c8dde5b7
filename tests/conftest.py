"""What all tests share: the real data, and an account of how many tests used them."""

import gc
import os
import signal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from scipy.sparse import csr_array, load_npz
from threadpoolctl import threadpool_limits

# Machines differ in speed and a test never asserts on time; examples are the same in every run.
settings.register_profile("orthonmf", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("orthonmf")

REAL_SETS = {
    "amazon-commerce-reviews": "amazon_commerce_reviews.npz",
    "arcene-train": "arcene_train.npz",
    "mfeat-pix": "mfeat_pix.npz",
    "bow-kos": "bow_kos.npz",
    "bow-nips": "bow_nips.npz",
}


@pytest.fixture(scope="session")
def real_set():
    """A function from the name of a real data set to its matrix; skips where it is absent."""

    def load(name):
        home = os.environ.get("ORTHONMF_DATA_HOME")
        if not home:
            pytest.skip("real data: ORTHONMF_DATA_HOME is not set")
        path = Path(home) / REAL_SETS[name]
        if not path.exists():
            pytest.skip(f"real data: {path.name} is not in ORTHONMF_DATA_HOME")
        with np.load(path) as held:
            if "X" in held:
                return held["X"].astype(np.float64)
        return csr_array(load_npz(path)).astype(np.float64)

    return load


@pytest.fixture(scope="module")
def one_blas_thread():
    """Products in one thread, as they are inside a fit."""
    with threadpool_limits(1):
        yield


def pytest_configure(config):
    # Workers share the cores, so one thread each is enough for their products, unless it is set.
    if getattr(config.option, "numprocesses", None):
        os.environ.setdefault("OMP_NUM_THREADS", "1")
    # A shell that runs the tests in the background has interrupts ignored; some tests send them.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection():
    gc.disable()  # what is made for thousands of tests stays: there is nothing to collect


def pytest_collection_finish():
    gc.freeze()
    gc.enable()


def pytest_collection_modifyitems(items):
    for item in items:
        if "real_set" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.real_data)
        if item.get_closest_marker("cluster"):
            item.add_marker(pytest.mark.slow)


def pytest_terminal_summary(terminalreporter):
    def of_real_data(outcome):
        reports = terminalreporter.stats.get(outcome, [])
        return sum("real_data" in getattr(report, "keywords", ()) for report in reports)

    ran = of_real_data("passed") + of_real_data("failed")
    skipped = of_real_data("skipped")
    why = "; set ORTHONMF_DATA_HOME to the folder that holds them" if skipped else ""
    terminalreporter.write_line(f"real-data tests: {ran} ran, {skipped} skipped{why}")
