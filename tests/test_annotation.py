"""AnnData in, AnnData with the answer out."""

import numpy as np
import pytest
from scipy.sparse import csc_array, csr_array

import orthonmf
from orthonmf.errors import InvalidInputError

anndata = pytest.importorskip("anndata")
pandas = pytest.importorskip("pandas")


@pytest.fixture
def adata():
    X = np.kron(np.eye(3), np.ones((5, 4))) + 0.01
    X[3] = 0
    obs = pandas.DataFrame(index=[f"c{i}" for i in range(15)])
    return anndata.AnnData(X, obs=obs, var=pandas.DataFrame(index=[f"g{j}" for j in range(12)]))


@pytest.mark.parametrize("orthogonal", ["samples", "features", "both"])
def test_the_answer_is_where_people_look_for_it(orthogonal, adata, tmp_path):
    result = orthonmf.annotate(adata, 3, orthogonal=orthogonal, random_state=0)
    assert result.sample_names == tuple(adata.obs_names)
    assert result.feature_names == tuple(adata.var_names)
    assert list(adata.obs["orthonmf"].cat.categories) == ["0", "1", "2"]
    assert adata.obs["orthonmf"].isna().tolist() == [i == 3 for i in range(15)]
    assert len(set(adata.obs["orthonmf"].dropna())) == 3
    for block in range(3):
        assert adata.var["orthonmf"].iloc[4 * block : 4 * block + 4].nunique() == 1
    loadings, weights = adata.obsm["X_orthonmf"], adata.varm["orthonmf"]
    assert np.allclose(loadings @ weights.T, result.reconstruct())
    assert adata.uns["orthonmf"]["orthogonal"] == orthogonal
    assert result.evidence.settled is None  # no certificate was computed
    adata.write_h5ad(tmp_path / "x.h5ad")
    written = anndata.read_h5ad(tmp_path / "x.h5ad")
    assert list(written.obs["orthonmf"].cat.categories) == ["0", "1", "2"]
    assert written.uns["orthonmf"]["error"] == pytest.approx(result.error)


def test_a_layer_and_a_key_are_chosen(adata):
    counts = adata.X.copy()
    adata.layers["counts"] = counts
    adata.X = adata.X - 1.0
    with pytest.raises(InvalidInputError, match=r"Negative values.*layer='counts'"):
        orthonmf.annotate(adata, 3)
    result = orthonmf.annotate(adata, 3, layer="counts", key_added="parts", random_state=0)
    assert np.array_equal(
        result.components, orthonmf.factorize(counts, 3, random_state=0).components
    )
    assert {"parts"} <= set(adata.obs) & set(adata.var)
    assert adata.uns["parts"]["layer"] == "counts"
    with pytest.raises(InvalidInputError, match=r"no layer 'count'.*did you mean counts\?"):
        orthonmf.annotate(adata, 3, layer="count")


def test_every_door_takes_an_anndata_with_its_names(adata, tmp_path):
    result = orthonmf.factorize(adata, 3, random_state=0)
    assert result.sample_names == tuple(adata.obs_names)
    assert result.feature_names == tuple(adata.var_names)
    assert np.array_equal(
        result.components, orthonmf.factorize(adata.X, 3, random_state=0).components
    )
    given = orthonmf.certify(adata, result.labels, method="svd")
    assert given.feature_names == tuple(adata.var_names)
    table = orthonmf.select_n_components(adata, [2, 3], n_repetitions=1, random_state=0)
    assert table.suggestion in (2, 3)
    page = orthonmf.write_report(result, adata, tmp_path / "page.html")
    assert "g11" in page.read_text()
    model = orthonmf.OrthogonalNMF(3, random_state=0).fit(adata)
    assert model.labels_.shape == (15,)


def test_what_is_no_anndata_is_sent_to_factorize(adata):
    with pytest.raises(InvalidInputError, match=r"orthonmf\.factorize"):
        orthonmf.annotate(adata.X, 3)


@pytest.mark.parametrize("store", [np.asarray, csr_array, csc_array])
def test_a_file_that_is_open_is_read_where_it_lies(store, adata, tmp_path):
    expected = orthonmf.factorize(adata.X, 3, random_state=0)
    adata.X = store(adata.X)
    adata.write_h5ad(tmp_path / "x.h5ad")
    backed = anndata.read_h5ad(tmp_path / "x.h5ad", backed="r")
    result = orthonmf.annotate(backed, 3, random_state=0)
    assert result.relative_squared_error == pytest.approx(expected.relative_squared_error)
    backed.file.close()


def test_groups_of_genes_are_written_as_groups_and_components_as_components(adata):
    adata.X[:10, :4] += [5, 5, 9, 9]  # more groups of genes than of cells
    result = orthonmf.annotate(adata, (2, 3), orthogonal="both", random_state=0)
    n_components, n_groups = result.core.shape
    assert adata.var["orthonmf_group"].cat.codes.tolist() == result.feature_labels.tolist()
    assert len(adata.var["orthonmf_group"].cat.categories) == n_groups > n_components
    assert set(adata.var["orthonmf"].dropna()) <= set(adata.obs["orthonmf"].cat.categories)
    heaviest = result.core.argmax(axis=0)[result.feature_labels]
    assert adata.var["orthonmf"].cat.codes.tolist() == heaviest.tolist()


@pytest.mark.slow
def test_the_command_writes_the_same(adata, tmp_path):
    from tests.cli.running import run_fresh

    adata.obs["group"] = "a"
    adata.write_h5ad(tmp_path / "x.h5ad")
    before = (tmp_path / "x.h5ad").read_bytes()
    result = orthonmf.annotate(adata, 3, random_state=0)
    done = run_fresh("fit", "x.h5ad", "-k", 3, "--seed", 0, cwd=tmp_path)
    assert done.code == 0, done.err
    assert (tmp_path / "x.h5ad").read_bytes() == before
    written = anndata.read_h5ad(tmp_path / "x.orthonmf" / "x.orthonmf.h5ad")
    assert list(written.obs.columns) == ["group", "orthonmf"]
    assert written.obs["orthonmf"].equals(adata.obs["orthonmf"])
    assert written.var["orthonmf"].equals(adata.var["orthonmf"])
    assert np.allclose(written.obsm["X_orthonmf"], adata.obsm["X_orthonmf"])
    assert written.uns["orthonmf"]["certificate"] == str(result.certificate)


@pytest.mark.parametrize(
    ("orthogonal", "layer"), [("samples", "counts"), ("features", None), ("both", None)]
)
def test_refits_write_the_certainty_of_cells_and_genes(orthogonal, layer, adata, tmp_path):
    adata.layers["counts"] = adata.X.copy()
    options = {"orthogonal": orthogonal, "layer": layer, "sample_weight": np.arange(15) + 1.0}
    orthonmf.annotate(adata, 3, n_refits=4, key_added="parts", random_state=0, **options)
    cells, genes = "parts_certainty" in adata.obs, "parts_certainty" in adata.var
    assert (cells, genes) == (orthogonal != "features", orthogonal != "samples")
    if cells:
        assert adata.obs["parts_certainty"].iloc[3] == 0  # an empty cell
        assert (adata.obs["parts_certainty"].drop("c3") == 1).all()
    adata.write_h5ad(tmp_path / "x.h5ad")
    written = anndata.read_h5ad(tmp_path / "x.h5ad").uns["parts"]
    assert (written["n_refits"], written["agreement"]) == (4, 1.0)
    np.testing.assert_array_equal(written["exchange"], np.eye(3))
