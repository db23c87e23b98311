"""Key paths, and classes that become nodes, with the names of ``jax.tree_util``: laws, and JAX."""

from __future__ import annotations

import copy
import dataclasses
import operator
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import funcgrad
from funcgrad import tree, tree_util

KEYS = {
    "DictKey": ("key", ["a", 3, (1, 2)]),
    "SequenceKey": ("idx", [0, 7]),
    "GetAttrKey": ("name", ["weight"]),
    "FlattenedIndexKey": ("key", [0, 5]),
}
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


# ---------------------------------------------------------------- keys


@pytest.mark.parametrize("name", KEYS)
def test_keys_are_those_of_jax(name: str) -> None:
    attribute, values = KEYS[name]
    jax = pytest.importorskip("jax")
    for value in values:
        ours, theirs = getattr(tree_util, name)(value), getattr(jax.tree_util, name)(value)
        assert getattr(ours, attribute) == getattr(theirs, attribute) == value
        assert (str(ours), repr(ours)) == (str(theirs), repr(theirs))
        for options in (
            {},
            {"simple": True},
            {"separator": "/"},
            {"simple": True, "separator": "."},
        ):
            path = (ours, ours), (theirs, theirs)
            assert tree_util.keystr(path[0], **options) == jax.tree_util.keystr(path[1], **options)


def test_keys_are_values() -> None:
    keys = [getattr(tree_util, name)(v) for name, (_, vs) in KEYS.items() for v in vs]
    for i, a in enumerate(keys):
        assert [k for k, b in enumerate(keys) if a == b] == [i]
        assert copy.deepcopy(a) == a == pickle.loads(pickle.dumps(a))
        assert {a: 1}[copy.copy(a)] == 1
        assert tree.structure(a) is tree.LEAF
    with pytest.raises(dataclasses.FrozenInstanceError):
        keys[0].key = 1


@given(TREES)
def test_paths_have_the_keys_of_jax(t: Any) -> None:
    jax = pytest.importorskip("jax")
    ours, theirs = (m.tree_leaves_with_path(t) for m in (tree_util, jax.tree_util))
    assert [str(path) for path, _ in ours] == [str(path) for path, _ in theirs]


# ---------------------------------------------------------------- classes


class Pair:
    def __init__(self, a: Any, b: Any, unit: Any = "m") -> None:
        self.a, self.b, self.unit = a, b, unit


@dataclasses.dataclass
class Given:
    a: Any
    b: Any = 2.0
    unit: str = "m"
    doubled: Any = dataclasses.field(init=False, default=None)

    def __post_init__(self) -> None:
        self.doubled = (self.a, self.a)


def classes_for(module: Any) -> dict[str, Any]:
    """For every way to register, a new class with a and b, and whose children have names."""
    own = {name: type(name, (Pair,), {}) for name in ("node", "keyed", "plain fields")}
    key = module.GetAttrKey

    class Keyed(Pair):
        def tree_flatten_with_keys(self) -> Any:
            return ((key("b"), self.b), (key("a"), self.a)), self.unit

        @classmethod
        def tree_unflatten(cls, unit: Any, children: Any) -> Any:
            return cls(*list(children)[::-1], unit)

    class Flat(Pair):
        def tree_flatten(self) -> Any:
            return (self.a, self.b), self.unit

        @classmethod
        def tree_unflatten(cls, unit: Any, children: Any) -> Any:
            return cls(*children, unit)

    @partial(module.register_dataclass, data_fields=["b", "a"], meta_fields=["unit"])
    @dataclasses.dataclass
    class Fields(Given):
        pass

    @module.register_dataclass
    @dataclasses.dataclass
    class Default:
        a: Any
        unit: str = dataclasses.field(default="m", metadata={"static": True})
        b: Any = 2.0

    @partial(
        module.register_dataclass, data_fields=["a", "b"], meta_fields=[], drop_fields=["unit"]
    )
    @dataclasses.dataclass
    class Dropped(Given):
        pass

    module.register_pytree_node(
        own["node"], lambda p: ((p.a, p.b), p.unit), lambda u, ab: own["node"](*ab, u)
    )
    module.register_pytree_with_keys(
        own["keyed"],
        lambda p: ([(key("a"), p.a), (key("b"), p.b)], p.unit),
        lambda u, ab: own["keyed"](*ab, u),
    )
    module.register_dataclass(own["plain fields"], ["a", "b"], ["unit"])
    own |= {"keyed class": module.register_pytree_with_keys_class(Keyed)}
    own |= {"class": module.register_pytree_node_class(Flat)}
    own |= {"fields": Fields, "default": Default, "dropped": Dropped}
    return own


OURS = classes_for(tree_util)
every_class = pytest.mark.parametrize("name", OURS)


@every_class
@given(a=TREES, b=TREES)
def test_registered_classes_obey_the_laws(name: str, a: Any, b: Any) -> None:
    node = OURS[name](a=a, b=b, unit="m" if name == "dropped" else "s")
    found, treedef = tree.flatten(node)
    again = treedef.unflatten(found)
    assert type(again) is type(node)
    assert (again.a, again.b, again.unit) == (a, b, node.unit)
    assert tree.structure(again) == treedef
    assert len(tree.leaves_with_path(node)) == len(found) == len(tree.leaves((a, b)))
    if found:
        doubled = tree.map(lambda x: 2 * x, node)
        assert tree.leaves(doubled) == [2 * x for x in found]
    if name != "dropped":
        assert treedef != tree.structure(OURS[name](a=a, b=b, unit="kg"))


@every_class
def test_registered_classes_go_through_transforms(name: str) -> None:
    make = OURS[name]

    def f(p: Any) -> Any:
        return p.a * p.a * p.b if p.unit == "m" else p.a

    p = make(a=3.0, b=np.array([2.0, 1.0]), unit="m")
    for grad in (
        funcgrad.grad(lambda p: f(p).sum()),
        funcgrad.jit(funcgrad.grad(lambda p: f(p).sum())),
    ):
        slope = grad(p)
        assert type(slope) is make
        assert (float(slope.a), slope.b.tolist()) == (18.0, [9.0, 9.0])
    assert funcgrad.jit(f)(p).tolist() == [18.0, 9.0]
    if name != "dropped":
        assert float(funcgrad.jit(f)(make(a=3.0, b=1.0, unit="s"))) == 3.0
    many = funcgrad.vmap(f, in_axes=(make(a=None, b=0, unit="m"),))(p)
    assert many.tolist() == [18.0, 9.0]


def test_registered_classes_are_those_of_jax() -> None:
    jax = pytest.importorskip("jax")
    theirs = classes_for(jax.tree_util)
    for name in OURS:
        paths = [
            [
                (m.keystr(path), leaf)
                for path, leaf in m.tree_leaves_with_path(classes[name](a=(1, 2), b=[3]))
            ]
            for m, classes in ((tree_util, OURS), (jax.tree_util, theirs))
        ]
        assert paths[0] == paths[1], name


def test_constructors_make_what_is_no_field() -> None:
    made = tree.map(lambda x: x + 1, OURS["fields"](1, 2, "kg"))
    assert (made.a, made.b, made.unit, made.doubled) == (2, 3, "kg", (2, 2))
    assert tree.map(lambda x: x, OURS["dropped"](1, 2, "kg")).unit == "m"
    rest = tree_util.register_dataclass(dataclasses.make_dataclass("Rest", ["a", "b", "c"]))
    assert tree.leaves(rest(1, 2, 3)) == [1, 2, 3]
    few = dataclasses.make_dataclass("Few", ["a", ("b", int, 5)])
    tree_util.register_dataclass(few, drop_fields=["b"])
    assert (tree.leaves(few(1, 2)), tree.map(str, few(1, 2))) == ([1], few("1", 5))


def test_static_objects_have_no_leaves() -> None:
    @tree_util.register_static
    class Mode(str):
        __slots__ = ()

    f = funcgrad.jit(lambda mode, x: x if mode == "a" else -x)
    assert (float(f(Mode("a"), 2.0)), float(f(Mode("b"), 2.0))) == (2.0, -2.0)
    assert tree.leaves([Mode("a"), 1]) == [1]
    assert tree.structure(Mode("a")) != tree.structure(Mode("b"))
    assert tree.unflatten(tree.structure(Mode("a")), []) == "a"


def test_static_fields() -> None:
    @dataclasses.dataclass
    class Layer:
        w: Any
        name: str = tree.static(default="x", metadata={"unit": "m"})
        sizes: Any = tree.static(default_factory=tuple)  # noqa: RUF009

    assert tree.leaves(Layer(1)) == [1]
    assert dataclasses.fields(Layer)[1].metadata == {"static": True, "unit": "m"}
    assert tree.map(str, Layer(1, "y", (2,))) == Layer("1", "y", (2,))


def test_mistakes_are_named() -> None:
    class Plain:
        pass

    register = tree_util.register_dataclass
    for make, error, text in (
        (lambda: register(Plain), TypeError, "Plain, which is no dataclass, needs data_fields"),
        (lambda: register(Given, ["a"]), TypeError, "go together"),
        (lambda: register(Given, ["a", "b"], []), ValueError, r"does not say .* \['unit'\]"),
        (lambda: register(Given, ["a", "b", "c"], ["unit"]), ValueError, r"has no .* \['c'\]"),
        (
            lambda: register(Given, ["a", "b"], ["b", "unit"]),
            ValueError,
            r"\['b'\] are given twice",
        ),
        (lambda: register(Given, drop_fields=["d"]), ValueError, r"has no the fields \['d'\]"),
        (lambda: register(OURS["fields"]), ValueError, "already registered"),
        (lambda: tree_util.register_static(OURS["node"]), ValueError, "already registered"),
        (
            lambda: tree_util.register_pytree_node_class(OURS["keyed"]),
            AttributeError,
            "tree_flatten",
        ),
    ):
        with pytest.raises(error, match=text):
            make()


# ---------------------------------------------------------------- structures


@given(st.lists(TREES, max_size=4))
def test_structures_of_tuples(trees: list[Any]) -> None:
    parts = [tree.structure(t) for t in trees]
    whole = tree_util.treedef_tuple(iter(parts))
    assert whole == tree.structure(tuple(trees))
    assert hash(whole) == hash(tree.structure(tuple(trees)))
    assert tree_util.treedef_children(whole) == parts
    for t, part in zip(trees, parts, strict=True):
        assert tree_util.treedef_is_leaf(part) is (not tree_util.treedef_children(part))
        assert tree.unflatten(whole, tree.leaves(trees)) == tuple(trees)
        assert tree_util.treedef_is_leaf(part) or t is not None


@given(TREES, TREES)
def test_broadcast(prefix: Any, below: Any) -> None:
    full = tree.map(lambda _: below, prefix)
    spread = tree.broadcast(prefix, full)
    assert spread == tree.map(lambda x: tree.map(lambda _: x, below), prefix)
    jax = pytest.importorskip("jax")
    assert spread == jax.tree.broadcast(prefix, full)


def test_broadcast_refuses_what_is_no_prefix() -> None:
    is_pair = lambda x: isinstance(x, tuple)  # noqa: E731
    assert tree.broadcast([(1, 2), 3], [{"a": 0}, [0]], is_pair) == [{"a": (1, 2)}, [3]]
    for prefix, full, text in (
        ([1, 2], [1], "a list of length 2 and the second has a list of length 1"),
        ({"a": [1]}, {"a": (1,)}, r"at \['a'\]"),
        ([None], [1], "leaf of type int"),
    ):
        with pytest.raises(ValueError, match=text):
            tree.broadcast(prefix, full)


@given(TREES)
def test_reduction_in_pairs(t: Any) -> None:
    assert tree.reduce_associative(operator.add, t, identity=0) == tree.reduce(operator.add, t, 0)
    words = tree.map(str, t)
    assert tree.reduce_associative(operator.add, words, identity="") == "".join(tree.leaves(words))
    if not tree.leaves(t):
        with pytest.raises(TypeError, match="no leaf"):
            tree.reduce_associative(operator.add, t)
