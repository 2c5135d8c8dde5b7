"""A default fit goes through few files: what was not asked for is not visited."""

import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import orthonmf

SOURCE = Path(orthonmf.__file__).parent
X = np.random.default_rng(0).exponential(size=(2000, 50))
MOST = {"samples": 20, "features": 20, "both": 26}


def files_of(fit):
    """The files of the library in which any function is called."""
    seen = set()

    def watch(frame, event, argument):
        if event == "call":
            seen.add(frame.f_code.co_filename)

    before, before_threads = sys.getprofile(), threading.getprofile()
    threading.setprofile(watch)
    sys.setprofile(watch)
    try:
        fit()
    finally:
        sys.setprofile(before)
        threading.setprofile(before_threads)
    paths = (Path(name) for name in seen if name.startswith(str(SOURCE)))
    return sorted(str(path.relative_to(SOURCE)) for path in paths)


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize(
    "options", [{"orthogonal": one} for one in MOST] + [{"algorithm": "paper"}]
)
def test_few_files_are_on_the_way_of_a_fit(options):
    def fit():
        orthonmf.factorize(X, 8, random_state=0, n_jobs=1, **options)

    fit()  # what is imported, and looked up, once
    found = files_of(fit)
    assert "fitting.py" in found
    assert len(found) <= MOST[options.get("orthogonal", "samples")], found


def test_a_fit_visits_neither_bounds_nor_what_was_not_asked_for():
    found = files_of(lambda: orthonmf.factorize(X, 8, random_state=0, n_jobs=1))
    rooms = (
        "bounds",
        "certification",
        "files",
        "datasets",
        "engine/dask",
        "correlation_clustering",
    )
    assert [path for path in found if path.startswith(rooms)] == []
