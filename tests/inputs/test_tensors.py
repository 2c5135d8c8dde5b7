"""The door for tensors: what is shared, what is refused and what to do instead."""

import numpy as np
import pytest

import orthonmf
from orthonmf.engine.sources import ArraySource
from orthonmf.errors import InvalidInputError, InvalidTypeError, MissingExtraError
from orthonmf.inputs.data import as_source

X = np.random.default_rng(0).random((20, 5))


class ForeignArray:
    """Something that says it lies on a GPU, as arrays of other libraries do."""

    shape, dtype = (20, 5), np.dtype(np.float32)

    def __dlpack_device__(self):
        return (2, 0)

    def __dlpack__(self, **keywords):
        raise AssertionError("not without torch")


def test_an_array_on_a_gpu_needs_the_extra():
    try:
        import torch  # noqa: F401
    except ImportError:
        with pytest.raises(MissingExtraError, match="extra 'gpu'"):
            as_source(ForeignArray())
    else:
        pytest.skip("torch is installed")


def test_a_tensor_on_the_host_is_read_without_a_copy():
    torch = pytest.importorskip("torch")
    tensor = torch.tensor(X, requires_grad=True)
    source = as_source(tensor)
    assert isinstance(source, ArraySource)
    assert np.shares_memory(source.block(0), tensor.detach().numpy())
    half = as_source(torch.tensor(X).bfloat16())
    np.testing.assert_array_equal(half.block(0), torch.tensor(X).bfloat16().double().numpy())


def test_a_tensor_is_fitted_by_every_door():
    torch = pytest.importorskip("torch")
    mine, theirs = orthonmf.factorize(torch.tensor(X), 2), orthonmf.factorize(X, 2)
    np.testing.assert_array_equal(mine.transform(torch.tensor(X)).data, theirs.loadings.data)
    assert orthonmf.OrthogonalNMF(2).fit(torch.tensor(X)).n_features_in_ == 5


def test_weights_may_be_tensors():
    torch = pytest.importorskip("torch")
    rows, columns = torch.arange(1.0, 21.0), torch.arange(1.0, 6.0)
    numbers = {"sample_weight": rows.numpy(), "feature_weight": columns.numpy()}
    expected = orthonmf.factorize(X, 2, random_state=0, **numbers)
    for kept in (torch.Tensor.requires_grad_, torch.Tensor.bfloat16, torch.Tensor.double):
        tensors = {"sample_weight": kept(rows), "feature_weight": kept(columns)}
        result = orthonmf.factorize(X, 2, random_state=0, **tensors)
        np.testing.assert_array_equal(result.components, expected.components)
        assert result.certificate.lower_bound == expected.certificate.lower_bound
    with pytest.raises(InvalidInputError, match="sample_weight must hold 20"):
        orthonmf.factorize(X, 2, sample_weight=torch.ones(3))
    with pytest.raises(InvalidInputError, match="sample_weight cannot be read as 20 numbers"):
        orthonmf.factorize(X, 2, sample_weight=torch.ones(20, device="meta"))


def test_tensors_that_cannot_be_used_are_refused_with_a_remedy():
    torch = pytest.importorskip("torch")
    with pytest.raises(InvalidTypeError, match=r"X\.to_dense\(\)"):
        as_source(torch.tensor(X).to_sparse())
    with pytest.raises(InvalidInputError, match="real part"):
        as_source(torch.tensor(X) * 1j)
    with pytest.raises(InvalidTypeError, match=r"X\.cpu\(\)"):
        as_source(torch.empty((3, 4), device="meta"))
    with pytest.raises(InvalidInputError, match="2-D"):
        as_source(torch.ones(3))


def test_nothing_is_streamed_without_a_gpu():
    torch = pytest.importorskip("torch")
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(InvalidInputError, match="pass X itself"):
        orthonmf.stream_to_device(X)
