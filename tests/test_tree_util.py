"""What is done to trees as a whole: laws, and JAX where it is installed."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import tree, tree_util

LEAVES = st.integers(-5, 5) | st.none()
TREES = st.recursive(
    LEAVES,
    lambda t: (
        st.lists(t, max_size=3)
        | st.tuples(t, t)
        | st.dictionaries(st.sampled_from("abc"), t, max_size=3)
    ),
    max_leaves=8,
)
NAMES = tree_util.__all__


@given(TREES, TREES)
def test_transposing_twice_changes_nothing(outer: Any, inner: Any) -> None:
    a, b = tree.structure(outer), tree.structure(inner)
    n = b.num_leaves
    nested = a.unflatten([b.unflatten([(i, k) for k in range(n)]) for i in range(a.num_leaves)])

    def is_pair(x: Any) -> bool:
        return type(x) is tuple and bool(x) and type(x[0]) is int

    numbers = iter(range(a.num_leaves * n))
    counted = tree.map(lambda _: next(numbers), nested, is_leaf=is_pair)
    turned = tree.transpose(a, b, counted)
    if n and a.num_leaves:
        assert tree.structure(turned) == tree.structure(b.unflatten([outer] * n))
        assert tree.transpose(b, a, turned) == counted
        assert tree.transpose(a, None, counted) == turned


@given(TREES)
def test_laws(t: Any) -> None:
    found = tree.leaves(t)
    assert tree.reduce(operator.add, t, 0) == sum(found)
    assert tree.all(t) == all(found)
    assert tree.map_with_path(lambda path, x: (tree.key_str(path), x), t) == tree.map(
        lambda path, x: (path, x),
        tree.unflatten(tree.structure(t), [tree.key_str(p) for p, _ in tree.leaves_with_path(t)]),
        t,
    )
    pairs, treedef = tree.flatten_with_path(t)
    assert (pairs, treedef) == (tree.leaves_with_path(t), tree.structure(t))


@given(TREES)
def test_jax(t: Any) -> None:
    jax = pytest.importorskip("jax")
    theirs = jax.tree_util
    assert tree_util.tree_leaves(t) == theirs.tree_leaves(t)
    assert [tree_util.keystr(p) for p, _ in tree_util.tree_leaves_with_path(t)] == [
        theirs.keystr(p) for p, _ in theirs.tree_leaves_with_path(t)
    ]
    shown = [
        f(lambda path, x, y, k=k: f"{k(path)} {x} {y}", t, t)
        for f, k in (
            (tree_util.tree_map_with_path, tree_util.keystr),
            (theirs.tree_map_with_path, theirs.keystr),
        )
    ]
    assert shown[0] == shown[1]
    outer = tree_util.tree_structure([0, (0, 0)]), theirs.tree_structure([0, (0, 0)])
    nested = [t, (t, t)]
    if tree.leaves(t):
        assert tree_util.tree_transpose(outer[0], None, nested) == theirs.tree_transpose(
            outer[1], None, nested
        )


@pytest.mark.parametrize("name", NAMES)
def test_names_are_those_of_jax(name: str) -> None:
    jax = pytest.importorskip("jax")
    assert hasattr(jax.tree_util, name)


def test_nothing_to_reduce() -> None:
    with pytest.raises(TypeError, match="empty"):
        tree.reduce(operator.add, [])
    with pytest.raises(ValueError, match="number 2 has"):
        tree.transpose(tree.structure([0, 0]), None, [1])
    with pytest.raises(ValueError, match=r"tree\.map needs trees"):
        tree.map_with_path(lambda *_: 0, [1], (1,))


def test_partial_functions_are_trees() -> None:
    f = tree_util.Partial(lambda a, x, *, b: a * x + b, np.array(2.0), b=np.array(1.0))
    slope = funcgrad.grad(lambda f, x: f(x))(f, 3.0)
    assert isinstance(slope, tree_util.Partial)
    assert (float(slope.args[0]), float(slope.keywords["b"])) == (3.0, 1.0)
    assert float(funcgrad.jit(lambda f, x: f(x))(f, 3.0)) == 7.0


def test_classes_become_nodes() -> None:
    class Line:
        def __init__(self, w: Any, name: str) -> None:
            self.w, self.name = w, name

    tree_util.register_pytree_node(
        Line, lambda s: ([s.w], s.name), lambda name, ws: Line(*ws, name)
    )
    made = tree_util.tree_map(lambda w: w + 1, Line(1.0, "a"))
    assert (made.w, made.name) == (2.0, "a")
    assert float(funcgrad.grad(lambda s: s.w**2)(made).w) == 4.0
    with pytest.raises(ValueError, match="already"):
        tree_util.register_pytree_node(Line, lambda s: ([], None), lambda _, ws: Line(0, ""))


def test_types_stand_for_arrays() -> None:
    x = funcgrad.ShapeDtypeStruct((2, 3), np.float32)
    found = funcgrad.eval_shape(lambda p: {"y": p["x"] @ p["x"].T}, {"x": x})["y"]
    assert (found.shape, found.dtype) == ((2, 2), np.float32)


def test_waiting() -> None:
    x = {"a": np.ones(2), "b": (1, None)}
    assert funcgrad.block_until_ready(x) is x


def test_parts_of_structures() -> None:
    x = {"a": [1.0, None], "b": tree_util.Partial(max, 2.0), "c": 3.0}
    treedef = tree_util.tree_structure(x)
    assert treedef.num_nodes == 9 and tree_util.tree_structure(1.0).num_nodes == 1
    assert treedef.children() == [tree_util.tree_structure(v) for v in x.values()]
    one = tree_util.default_registry.flatten_one_level
    assert one(x)[0] == list(x.values()) and one(x["b"])[0] == [(2.0,), {}]
    assert one(None) == ([], ()) and one(np.ones(2)) is None
