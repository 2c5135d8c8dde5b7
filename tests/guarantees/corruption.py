"""A search that goes wrong on purpose: nothing that it proves may depend on its success."""

from orthonmf.bounds import relaxation


def replace_vectors_by_noise(monkeypatch, rng):
    """Let the search see right values, and noise for the vectors that belong to them."""
    honest = relaxation._ritz

    def corrupted(times, vectors, *others):
        values, found = honest(times, vectors, *others)
        return values, rng.standard_normal(found.shape).astype(found.dtype)

    monkeypatch.setattr(relaxation, "_ritz", corrupted)
