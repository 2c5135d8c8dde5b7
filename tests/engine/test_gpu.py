"""On a GPU: the same bits every time, as exact as promised, streamed or not, and refusals."""

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.points import Samples
from orthonmf.errors import InvalidTypeError, TooLargeError
from orthonmf.inputs.data import as_matrix

torch = pytest.importorskip("torch")
pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="torch finds no GPU"),
]

SHAPES = [
    (100_000, 100, 10),
    (100_000, 101, 10),
    (50_000, 128, 32),
    (50_000, 128, 64),
    (50_000, 200, 20),
    (30_000, 256, 64),
    (30_000, 512, 100),
    (30_000, 128, 256),
    (5_000, 1024, 300),
    (3, 5, 2),
]


def uniform(n, m, seed=0):
    made = torch.Generator("cuda").manual_seed(seed)
    return torch.rand((n, m), generator=made, device="cuda")


@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_a_sweep_repeats_its_bits_and_is_near_float64(n, m, k):
    X, directions = uniform(n, m), np.random.default_rng(0).random((k, m))
    points = Samples(as_matrix(X))
    swept = points.sweep_directions(directions)
    for _ in range(20):
        again = points.sweep_directions(directions)
        assert np.array_equal(swept.labels, again.labels)
        np.testing.assert_array_equal(swept.sums, again.sums)
    unit = torch.tensor(directions / np.linalg.norm(directions, axis=1, keepdims=True)).cuda()
    products = X.double() @ unit.T
    energy = float(products.amax(dim=1).square().sum())
    assert swept.captured.sum() == pytest.approx(energy, rel=2e-5)
    weights = np.random.default_rng(1).random(n)
    weighted = Samples(as_matrix(X, sample_weight=weights))
    share = weighted.sweep_directions(directions).captured.sum() / weighted.total
    given = torch.tensor(weights).cuda()
    energy = float((products.amax(dim=1).square() * given).sum())
    assert share == pytest.approx(energy / float(X.double().square().sum(dim=1) @ given), rel=5e-5)


@pytest.mark.parametrize(("n", "m", "k"), SHAPES)
def test_published_labels_are_those_of_float64_and_of_any_part(n, m, k):
    X = uniform(n, m)
    unit = np.random.default_rng(0).random((k, m))
    unit = (unit / np.linalg.norm(unit, axis=1, keepdims=True)).astype(np.float32)
    labels, scales = as_matrix(X).project(unit)
    products = X.double() @ torch.tensor(unit, dtype=torch.float64).cuda().T
    apart = (products.argmax(dim=1) != labels.tensor).double().mean()
    assert float(apart) <= 5e-5
    torch.testing.assert_close(scales.tensor.double(), products.amax(dim=1), rtol=3e-6, atol=0.0)
    half = as_matrix(X[n // 2 :]).project(unit)
    assert np.array_equal(half[0], labels[n // 2 :])
    assert np.array_equal(half[1], scales[n // 2 :])


@pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")
@pytest.mark.parametrize("algorithm", ["best", "paper"])
@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_a_fit_repeats_its_bits_and_is_as_good_as_on_the_host(orthogonal, algorithm):
    rows = orthonmf.datasets.make_planted(60_000, 60, 5, noise=0.1, random_state=0).X
    rows = rows.astype(np.float32)
    X = torch.tensor(rows).cuda()
    options = {"orthogonal": orthogonal, "algorithm": algorithm, "random_state": 0}
    fitted, again = (orthonmf.factorize(X, 5, **options) for _ in range(2))
    assert fitted.error == again.error
    np.testing.assert_array_equal(fitted.components, again.components)
    if orthogonal != "features":
        np.testing.assert_array_equal(fitted.labels, again.labels)
    on_host = orthonmf.factorize(rows, 5, **options)
    assert fitted.relative_squared_error == pytest.approx(on_host.relative_squared_error, rel=1e-3)
    assert fitted.certificate.ratio == pytest.approx(on_host.certificate.ratio, rel=1e-3)
    assert fitted.certificate.upper_bound >= fitted.relative_squared_error
    assert abs(fitted.transform(X) - fitted.loadings).max() == 0


@pytest.mark.parametrize("n", [50_000, 300_000])  # searched as they are, and by a sample
def test_counts_are_grouped_under_the_divergence_as_on_the_host(n):
    rng = np.random.default_rng(0)
    profiles = 100 * rng.dirichlet(np.full(40, 0.3), 5)
    counts = rng.poisson(profiles[rng.integers(0, 5, n)]).astype(np.float32)
    X, options = torch.tensor(counts).cuda(), {"beta_loss": "kullback-leibler", "random_state": 0}
    fitted, again = (orthonmf.factorize(X, 5, **options) for _ in range(2))
    np.testing.assert_array_equal(fitted.labels, again.labels)
    assert fitted.divergence == again.divergence
    assert abs(fitted.transform(X) - fitted.loadings).max() == 0
    on_host = orthonmf.factorize(counts, 5, **options)
    near = 1e-6 if "sample of rows" not in fitted.steps_run else 5e-3
    assert fitted.divergence == pytest.approx(on_host.divergence, rel=near)
    assert fitted.information == pytest.approx(on_host.information, rel=1e-9)


def test_the_error_is_that_of_the_host_for_the_same_components():
    X = uniform(50_000, 40)
    fitted = orthonmf.factorize(X, 6, random_state=0)
    difference = X.double().cpu().numpy() - fitted.loadings @ fitted.components.astype(np.float64)
    assert fitted.error == pytest.approx(np.linalg.norm(difference), rel=1e-12)


def test_without_fused_kernels_the_steps_say_so():
    assert "plain torch" in orthonmf.factorize(uniform(500, 9).double(), 3).steps_run
    assert "plain torch" not in orthonmf.factorize(uniform(500, 9), 3).steps_run


def test_arrays_of_other_libraries_come_in_by_dlpack():
    cupy = pytest.importorskip("cupy")
    X = uniform(2_000, 9)
    mine = orthonmf.factorize(cupy.from_dlpack(X), 3, random_state=0)
    np.testing.assert_array_equal(mine.labels, orthonmf.factorize(X, 3, random_state=0).labels)


@pytest.mark.parametrize("locked", [True, False])
def test_streamed_rows_give_the_bits_of_a_tensor(locked, monkeypatch):
    from orthonmf.engine.gpu import source, streaming

    small = source.device_boundaries
    for module in (streaming, source):
        monkeypatch.setattr(module, "device_boundaries", lambda n, m, *size: small(n, m, 2**21))
    X = uniform(200_000, 50)
    rows = X.cpu().pin_memory() if locked else X.cpu().numpy()
    options = {"random_state": 0, "certificate": None}
    resident = orthonmf.factorize(X, 7, **options)
    for part_left in (2**40, 1):  # every block is kept on the device, and none
        monkeypatch.setattr(streaming, "PART_LEFT", part_left)
        streamed = orthonmf.factorize(orthonmf.stream_to_device(rows), 7, **options)
        np.testing.assert_array_equal(streamed.labels, resident.labels)
        np.testing.assert_array_equal(streamed.scales, resident.scales)
        assert streamed.error == resident.error


def test_too_little_memory_is_an_error_of_ours():
    X = uniform(2_000_000, 50)
    torch.cuda.empty_cache()
    _, total = torch.cuda.mem_get_info()
    torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved() + 2**20) / total)
    try:
        with pytest.raises(TooLargeError, match="stream_to_device"):
            orthonmf.factorize(X, 5)
    finally:
        torch.cuda.set_per_process_memory_fraction(1.0)


def test_what_the_user_set_for_products_changes_nothing():
    X = uniform(20_000, 40)
    before = orthonmf.factorize(X.double(), 5, random_state=0).error
    torch.backends.cuda.matmul.fp32_precision = "tf32"
    try:
        assert orthonmf.factorize(X.double(), 5, random_state=0).error == before
        labels = orthonmf.factorize(X, 5, random_state=0, orthogonal="features").feature_labels
    finally:
        torch.backends.cuda.matmul.fp32_precision = "ieee"
    again = orthonmf.factorize(X, 5, random_state=0, orthogonal="features").feature_labels
    np.testing.assert_array_equal(labels, again)


def test_sparse_tensors_on_a_gpu_are_refused():
    with pytest.raises(InvalidTypeError, match="sparse"):
        orthonmf.factorize(uniform(20, 5).to_sparse(), 2)


def test_weights_may_lie_on_the_gpu():
    X = np.random.default_rng(0).random((20, 5))
    weights = torch.arange(1.0, 21.0, device="cuda")
    for data in (X, torch.tensor(X, device="cuda")):
        result = orthonmf.factorize(data, 2, sample_weight=weights, random_state=0)
        expected = orthonmf.factorize(data, 2, sample_weight=weights.cpu().numpy(), random_state=0)
        np.testing.assert_array_equal(result.components, expected.components)
        assert result.certificate.lower_bound == expected.certificate.lower_bound
