"""Cautions: what misleads is told with what to do, and good data are left in peace."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_digits, load_wine

import orthonmf
from orthonmf.cautions import compare_sizes, compare_with_chance, in_options

SETTINGS = ("samples", "features", "both")
pytestmark = pytest.mark.filterwarnings("ignore::orthonmf.FewerComponentsWarning")


@pytest.fixture
def table():
    planted = orthonmf.datasets.make_planted(60, 8, 3, noise=0.2, random_state=0)
    return pd.DataFrame(10 * planted.X, columns=list("abcdefgh"))


def cautions(X, k=3, **options):
    return orthonmf.factorize(X, k, random_state=0, **options).cautions


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("in_order", [True, False])
def test_a_column_that_counts_the_rows(table, orthogonal, in_order):
    numbers = np.arange(1, 61) if in_order else np.random.default_rng(0).permutation(60) + 1
    (told,) = cautions(table.assign(ID=numbers), orthogonal=orthogonal)
    assert "Column ID counts by ones" in told
    assert told.endswith("leave it out.")
    assert in_options([told])[0].endswith("leave it out by --drop ID.")


@pytest.mark.parametrize("orthogonal", SETTINGS)
@pytest.mark.parametrize("digits", [0, 12])
def test_a_column_that_is_the_total_of_the_others(table, orthogonal, digits):
    (told,) = cautions(table.assign(All=table.sum(axis=1)).round(digits), orthogonal=orthogonal)
    assert "Column All is the sum of all other columns" in told
    assert "--drop" not in told


@pytest.mark.parametrize(
    ("orthogonal", "kind"), zip(SETTINGS, ("frame", "sparse", "frame"), strict=True)
)
def test_a_row_that_is_the_total_of_the_others(table, orthogonal, kind):
    table = pd.concat([table, table.sum().to_frame("Total").T])
    X = table if kind == "frame" else sp.csr_array(table.to_numpy())
    (told,) = cautions(X, orthogonal=orthogonal)
    assert told.startswith(f"Row {'Total' if kind == 'frame' else 60} is the sum of all other rows")


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_a_row_that_outweighs_all_others(table, orthogonal):
    table.iloc[7] *= 100
    (told,) = cautions(table, orthogonal=orthogonal)
    assert told.startswith("Row 7 holds 9")
    assert told.endswith("by sklearn.preprocessing.normalize(X).")
    assert in_options([told])[0].endswith("by --normalize rows.")
    scaled = table.to_numpy() / np.linalg.norm(table.to_numpy(), axis=1, keepdims=True)
    assert cautions(scaled, orthogonal=orthogonal) == ()


def test_a_column_of_another_unit():
    X = load_wine(as_frame=True).data
    (told,) = cautions(X)
    assert told.startswith("Column proline holds 98.3% of the energy")
    assert told.endswith("by sklearn.preprocessing.normalize(X, axis=0).")
    assert cautions(X / np.sqrt((X**2).mean())) == ()


def test_columns_on_very_different_scales(table):
    factors = np.array([1000, 1, 1, 1, 800, 1, 1, 1200])
    (told,) = cautions((table + 5) * factors)
    assert "3 of 8 columns hold" in told
    assert told.endswith("by sklearn.preprocessing.normalize(X, axis=0).")


def test_components_that_are_tiny():
    X = np.kron(np.diag([100.0, 1.0, 1.0, 1.0]), np.ones((5, 3)))
    X += 1e-3 * np.random.default_rng(0).random(X.shape)
    told = cautions(X, 4, sample_weight=np.ones(20))
    assert told == (
        "3 of 4 components are tiny, each under 0.5% of what is captured: ask for fewer, or see "
        "what select_n_components suggests.",
    )


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_tables_without_parts_end_in_one_sentence(orthogonal):
    assert cautions(np.full((20, 5), 3.0), orthogonal=orthogonal) == (
        "All entries of X are equal: there are no parts to find in it.",
    )
    assert cautions(np.zeros((20, 5)), orthogonal=orthogonal) == (
        "X is zero everywhere: there is nothing to find in it.",
    )


@pytest.mark.parametrize("orthogonal", SETTINGS)
def test_no_false_alarm_on_planted_data_and_digits(table, orthogonal):
    digits = load_digits().data
    for X in (table, digits.astype(np.float32), sp.csr_array(digits), 1e-300 * digits):
        assert cautions(X, 6, orthogonal=orthogonal) == ()


@pytest.mark.parametrize(
    ("name", "orthogonal"),
    [
        ("amazon-commerce-reviews", "features"),
        ("arcene-train", "samples"),
        ("mfeat-pix", "features"),
        ("bow-kos", "samples"),
    ],
)
def test_no_false_alarm_on_real_sets(real_set, name, orthogonal):
    told = cautions(real_set(name), 6, orthogonal=orthogonal, certificate=None)
    if name in ("arcene-train", "mfeat-pix"):
        assert told == ()
    else:  # words
        (counts,) = told
        assert counts.startswith("X looks like counts")


def test_counts_are_named_under_the_squared_error_alone():
    rng = np.random.default_rng(0)
    X = rng.poisson(rng.gamma(0.05, 5.0, (300, 60)))
    (told,) = cautions(X, 4)
    assert 'beta_loss="kullback-leibler"' in told
    assert cautions(X, 4, beta_loss="kullback-leibler") == ()
    assert cautions(X * 0.3, 4) == ()
    assert cautions(X, 4, sample_weight=np.ones(300)) == ()


def test_data_on_disk_are_not_read_again_and_missing_entries_are_no_trouble(table, tmp_path):
    table.iloc[7] *= 100
    on_disk = np.lib.format.open_memmap(tmp_path / "x.npy", "w+", np.float64, table.shape)
    on_disk[:] = table
    (told,) = cautions(on_disk)
    assert told.startswith("Row 7 holds 9")
    table.iloc[7] /= 100
    table.iloc[3, 4] = np.nan
    assert cautions(table, missing_values=np.nan) == ()


def test_what_shuffled_data_tell():
    shares = np.full(100, 0.6)
    assert compare_with_chance(0.6, 0.5, 4, shares) == ()
    (hardly,) = compare_with_chance(0.601, 0.6, 4, shares)
    assert "hardly more than chance" in hardly
    (nothing,) = compare_with_chance(0.999, 0.995, 4, shares)
    assert "tell nothing" in nothing
    (few,) = compare_with_chance(0.6, 0.5, 4, np.where(np.arange(100) < 10, 0.9, 0.2))
    assert few.startswith("Only 10% of the rows")
    assert compare_with_chance(0.6, 0.6, 1, shares) == ()


def test_another_number_than_the_suggested_one():
    assert compare_sizes(4, 4) == compare_sizes((3, 2), [3, 2]) == ()
    assert compare_sizes(4, 6) == (
        "select-k suggested 6 components for these data, not 4: compare with n_components=6.",
    )
    assert "-k 3,2" in in_options(compare_sizes((3, 4), [3, 2]))[0]
