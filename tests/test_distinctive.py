"""Names of components hold what matters in them and is ahead, and never come twice."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

import orthonmf
from orthonmf.distinctive import distinctive_features, name_components
from orthonmf.report import Story, find, page


def unit(components):
    return components / np.linalg.norm(components, axis=1, keepdims=True)


def profiles(name):
    """Components of data of many kinds."""
    rng = np.random.default_rng(0)
    if name == "wine":
        X = load_wine().data
        return orthonmf.factorize(X, 6, certificate=None, random_state=0).components
    if name == "table":
        return unit(rng.gamma(1.0, size=(5, 8)))
    if name == "genes":  # long tails of tiny weights, half of them ahead by chance
        return unit(np.kron(np.eye(6), np.ones(5000)) + 0.001 * rng.random((6, 30_000)))
    return unit(np.ones((4, 6)) + 1e-3 * rng.random((4, 6)))  # one profile


@pytest.mark.parametrize("data", ["wine", "table", "genes", "shared"])
def test_what_is_listed_matters_and_is_ahead_or_is_the_heaviest_and_names_are_different(data):
    components = profiles(data)
    for component, features in enumerate(distinctive_features(components, 5)):
        weights = components[component]
        order = np.argsort(-weights, kind="stable")
        elsewhere = np.delete(components, component, axis=0).max(axis=0)
        assert 1 <= len(features) <= 5
        # All that is heavier than the lightest of the list holds less than nine tenths.
        heavier = weights > weights[features].min()
        assert np.square(weights[heavier]).sum() < 0.9
        if not (weights[features] > elsewhere[features]).all():
            assert features.tolist() == order[: len(features)].tolist()

    for given in ([f"f{j}" for j in range(components.shape[1])], ["same"] * components.shape[1]):
        assert len(set(name_components(components, given))) == len(components)


def test_weight_counts_before_a_tiny_weight_that_is_far_ahead():
    components = unit(np.array([[0.9, 0.4, 0.6, 0.002], [0.9, 0.1, 0.4, 0.0]]))
    assert distinctive_features(components, 3)[0].tolist() == [1, 2]


def test_a_component_alone_and_one_without_weights_have_lists():
    heaviest = [column.tolist() for column in distinctive_features(np.array([[0.6, 0.0, 0.8]]), 3)]
    assert heaviest == [[2, 0]]
    assert [len(listed) for listed in distinctive_features(np.zeros((2, 3)), 2)] == [0, 0]
    assert distinctive_features(np.zeros((0, 3)), 2) == []


def test_one_function_serves_the_page_the_summary_and_the_list():
    rng = np.random.default_rng(3)
    foods = ["Bread", "Wine", "Milk", "Cheese", "Beer", "Fruit", "Meat", "Fish"]
    X = rng.gamma(2, 1, (3, 8))[rng.integers(3, size=40)] * rng.gamma(3, 1, (40, 8))
    X = pd.DataFrame(X, columns=foods)
    result = orthonmf.factorize(X, 3, certificate=None, random_state=0)
    names = name_components(result.components, foods)
    listed = result.top_features(3, by="distinctive")
    assert [", ".join(names) for names in listed] == names
    told = Story(result, find(X, result), "foods")
    assert all(name in page(told) for name in names)
