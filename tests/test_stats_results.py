"""What statistical tests return is a tree: compiled and mapped functions may return it."""

import numpy as np
import pytest

import funcgrad
from funcgrad import tree
from funcgrad.errors import ConcretizationError
from funcgrad.scipy import stats

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(2, 12))
FORMULAS = {
    "linregress": stats.linregress,
    "ttest_1samp": lambda x, y: stats.ttest_1samp(x - y, 0.0),
    "ttest_ind": stats.ttest_ind,
    "ttest_rel": stats.ttest_rel,
}
ORDERED = {
    "kendalltau": stats.kendalltau,
    "wilcoxon": stats.wilcoxon,
    "mannwhitneyu": stats.mannwhitneyu,
    "ks_2samp": stats.ks_2samp,
}


@pytest.mark.parametrize("name", FORMULAS)
def test_results_of_tests_with_formulas_come_through_transforms(name):
    f = FORMULAS[name]
    expected = f(X, Y)
    compiled = funcgrad.jit(f)(X, Y)
    mapped = funcgrad.vmap(f)(np.stack([X, Y]), np.stack([Y, X]))
    _, aux = funcgrad.grad(lambda x: (f(x, Y).pvalue, f(x, Y)), has_aux=True)(X)
    assert {type(r) for r in (compiled, mapped, aux)} == {type(expected)}
    for key, value in vars(expected).items():
        assert vars(compiled)[key] == pytest.approx(value)
        assert vars(aux)[key] == pytest.approx(value)
        assert np.broadcast_to(vars(mapped)[key], 2)[0] == pytest.approx(value)
    np.testing.assert_allclose(tuple(compiled), tuple(expected))


@pytest.mark.parametrize("name", ORDERED)
def test_statistics_of_order_come_through_and_p_values_where_samples_are_known(name):
    pytest.importorskip("scipy.stats")
    f = ORDERED[name]
    expected = f(X, Y)
    again = tree.map(lambda x: x, expected)
    np.testing.assert_allclose(tuple(again), tuple(expected))
    for result in (funcgrad.jit(f)(X, Y), funcgrad.vmap(f)(X[None], Y[None])):
        assert np.ravel(result.statistic)[0] == pytest.approx(expected.statistic)
        with pytest.raises(ConcretizationError, match="p-value"):
            result.pvalue  # noqa: B018


def test_keys_of_results_are_the_names_of_their_attributes():
    paths = [tree.key_str(path) for path, _ in tree.leaves_with_path(stats.ttest_ind(X, Y))]
    assert paths == [".statistic", ".df", ".pvalue"]
