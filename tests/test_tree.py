"""Pytrees: round trips over random trees of all kinds of nodes, and each promise of tree.py."""

from __future__ import annotations

import copy
import enum
import functools
import pickle
import sys
from collections import Counter, OrderedDict, defaultdict, namedtuple
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import funcgrad
from funcgrad import tree as T
from funcgrad import treedef
from funcgrad.tree import (
    LEAF,
    DictKey,
    GetAttrKey,
    TreeDef,
    flatten,
    flatten_axes,
    key_str,
    leaves,
    leaves_with_path,
    register_node,
    register_node_class,
    structure,
    unflatten,
)

# Trees are small and quick: more of them than the profile says.
examples = settings(deadline=None, max_examples=10 * settings().max_examples)

ItemT = TypeVar("ItemT")
Pair = namedtuple("Pair", "left right")


class Point(NamedTuple):
    x: Any
    y: Any


@dataclass
class Linear:
    w: Any
    b: Any
    act: Any = field(default="relu", metadata={"static": True})


@dataclass(frozen=True)
class Frozen:
    value: Any
    calls: Any = field(init=False, default=7)

    def __post_init__(self) -> None:
        if not isinstance(self.value, int | list):
            raise TypeError("Frozen checks what its constructor is given")


class Conv(Linear):
    """Not decorated, but a dataclass by its base."""


class Bag:
    """Registered without keys; subscripted by position."""

    def __init__(self, items: tuple[Any, ...], label: Any = None) -> None:
        self.items, self.label = items, label

    def __getitem__(self, index: int) -> Any:
        return self.items[index]

    def __eq__(self, other: object) -> bool:
        return type(other) is Bag and (self.items, self.label) == (other.items, other.label)

    def __repr__(self) -> str:
        return f"Bag({self.items!r}, {self.label!r})"


register_node(Bag, lambda bag: (bag.items, bag.label), lambda label, items: Bag(items, label))


@register_node_class
@dataclass
class Interval:
    """A dataclass whose registration comes before its fields."""

    lo: Any
    hi: Any
    note: str = "not kept"

    def tree_flatten(self) -> tuple[Any, ...]:
        return (self.hi, self.lo), None, ("hi", "lo")

    @classmethod
    def tree_unflatten(cls, aux: None, children: tuple[Any, Any]) -> Interval:
        return cls(children[1], children[0])


class SubList(list):
    pass


class SubBag(Bag):
    pass


@dataclass
class SubInterval(Interval):
    pass


def nodes_over(child: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Trees whose top is any kind of node."""
    lists = st.lists(child, max_size=3)
    dicts = st.dictionaries(st.sampled_from("abc"), child, max_size=3)
    mixed = st.dictionaries(st.sampled_from(["a", 1, None, (2, 3)]), child, max_size=3)
    return st.one_of(
        lists,
        lists.map(tuple),
        dicts,
        mixed,
        mixed.map(OrderedDict),
        st.builds(defaultdict, st.sampled_from([list, int]), dicts),
        st.builds(Pair, child, child),
        st.builds(Point, child, child),
        st.builds(Linear, child, child, st.sampled_from(["relu", "tanh"])),
        st.builds(Conv, child, child),
        st.builds(lambda x: unflatten(structure(Frozen(1)), [x, 7]), st.integers()),
        st.builds(Bag, lists.map(tuple), st.sampled_from([None, "label"])),
        st.builds(Interval, child, child),
    )


atoms = st.one_of(st.integers(), st.floats(allow_nan=False), st.text(max_size=2), st.just(Linear))
trees = st.recursive(st.one_of(st.none(), atoms), nodes_over, max_leaves=12)


def one_level(tree: Any) -> tuple[list[Any], TreeDef]:
    """The children of a node, and its structure with a leaf for each."""
    return flatten(tree, lambda x: x is not tree)


def shape_of(tree: Any) -> Any:
    """The structure of a tree, told independently of tree.py as nested tuples."""
    cls = type(tree)
    if tree is None:
        return ("None",)
    if cls in (list, tuple, Pair, Point):
        return (cls, *map(shape_of, tree))
    if cls in (dict, defaultdict, OrderedDict):
        items = list(tree.items())
        if cls is not OrderedDict and all(isinstance(key, str) for key in tree):
            items.sort()
        factory = tree.default_factory if cls is defaultdict else None
        return (cls, factory, *[(key, shape_of(value)) for key, value in items])
    if cls in (Linear, Conv):
        return (cls, tree.act, shape_of(tree.w), shape_of(tree.b))
    if cls is Frozen:
        return (cls, shape_of(tree.value), shape_of(tree.calls))
    if cls is Bag:
        return (cls, tree.label, *map(shape_of, tree.items))
    if cls is Interval:
        return (cls, shape_of(tree.lo), shape_of(tree.hi))
    return "leaf"


def follow(tree: Any, path: T.KeyPath) -> Any:
    """Walk a key path down from the top of a tree."""
    for key in path:
        tree = getattr(tree, key.name) if isinstance(key, GetAttrKey) else tree[key.key]
    return tree


# ---- properties of random trees


@examples
@given(trees)
def test_unflatten_undoes_flatten(tree: Any) -> None:
    found, treedef = flatten(tree)
    again = unflatten(treedef, found)
    assert again == tree
    assert shape_of(again) == shape_of(tree)
    assert all(a is b for a, b in zip(leaves(again), found, strict=True))
    assert treedef.num_leaves == len(found) == len(leaves(tree))
    assert structure(again) == treedef


@examples
@given(trees)
def test_paths_lead_to_the_leaves(tree: Any) -> None:
    pairs = leaves_with_path(tree)
    assert [leaf for _, leaf in pairs] == leaves(tree)
    assert [path for path, _ in pairs] == structure(tree).paths()
    assert all(follow(tree, path) is leaf for path, leaf in pairs)
    assert len({key_str(path) for path, _ in pairs}) == len(pairs)


@examples
@given(trees, trees)
def test_treedefs_are_equal_if_and_only_if_the_structures_are(a: Any, b: Any) -> None:
    assert (structure(a) == structure(b)) == (shape_of(a) == shape_of(b))
    renamed = structure(T.map(lambda _: object(), a))
    assert renamed == structure(a)
    assert hash(renamed) == hash(structure(a))
    assert repr(renamed) == repr(structure(a))


def test_treedefs_with_the_same_hash_may_differ() -> None:
    a, b = structure({-1: 0}), structure({-2: 0})
    assert hash(a) == hash(b)  # as hash(-1) == hash(-2)
    assert a != b


@examples
@given(trees)
def test_equality_and_hash_do_not_rest_on_shared_treedefs(tree: Any) -> None:
    before = structure(tree)
    treedef._SHARED.clear()
    after = structure(tree)
    assert before == after
    assert hash(before) == hash(after)
    loaded = pickle.loads(pickle.dumps(before))
    assert loaded == before
    assert hash(loaded) == hash(before)
    assert copy.deepcopy(before) == before


@examples
@given(trees)
def test_map_takes_trees_side_by_side(tree: Any) -> None:
    met: list[Any] = []
    T.map(lambda x, y: met.append((x, y)), tree, T.map(str, tree))
    assert met == [(x, str(x)) for x in leaves(tree)]
    # Where the first tree has leaves the others may have subtrees.
    wider = T.map(lambda x: (x, [x]), tree)
    assert T.map(lambda _, y: y, tree, wider) == wider


def outermost(tree: Any, cls: type) -> list[Any]:
    """The instances of `cls` in a tree that are not inside another one."""
    if type(tree) is cls:
        return [tree]
    if structure(tree) is LEAF or tree is None:
        return []
    return [x for child in one_level(tree)[0] for x in outermost(child, cls)]


@examples
@given(trees, st.data())
def test_is_leaf_cuts_a_tree_short(tree: Any, data: st.DataObject) -> None:
    cut = data.draw(st.sampled_from([dict, list, tuple, Linear, Bag, type(None)]))
    found, treedef = flatten(tree, lambda x: type(x) is cut)
    assert unflatten(treedef, found) == tree
    cut_out = [x for x in found if type(x) is cut]
    assert all(x is y for x, y in zip(cut_out, outermost(tree, cut), strict=True))


def draw_prefix(draw: Any, tree: Any) -> tuple[Any, list[Any]]:
    """A tree prefix for `tree`, and what it must spread to."""
    if structure(tree) is LEAF or tree is None or draw(st.booleans()):
        axis = draw(st.one_of(st.none(), st.integers(-3, 3)))
        return axis, [axis] * len(leaves(tree))
    children, treedef = one_level(tree)
    drawn = [draw_prefix(draw, child) for child in children]
    return treedef.unflatten([axes for axes, _ in drawn]), [x for _, xs in drawn for x in xs]


@examples
@given(trees, st.data())
def test_prefixes_spread_over_what_is_below_them(tree: Any, data: st.DataObject) -> None:
    prefix, expected = draw_prefix(data.draw, tree)
    assert flatten_axes("in_axes", structure(tree), prefix) == expected


@examples
@given(trees, trees)
def test_a_prefix_that_does_not_fit_is_named(tree: Any, prefix: Any) -> None:
    try:
        found = flatten_axes("in_axes", structure(tree), prefix)
    except ValueError as error:
        assert str(error).startswith("in_axes does not fit at ")
        assert ": found " in str(error)
    else:
        assert len(found) == structure(tree).num_leaves


@examples
@given(trees, trees)
def test_map_raises_where_structures_differ(a: Any, b: Any) -> None:
    if shape_of(a) == shape_of(b):
        T.map(lambda *_: 0, a, b)
    else:
        for first, second in ((a, b), (b, a)):
            try:
                out = T.map(lambda *_: 0, first, second)
            except ValueError as error:
                assert str(error).startswith("tree.map needs trees of one structure, but at ")
            else:  # the first tree is a prefix of the second
                assert structure(out) == structure(first)


# ---- what is a node and what is a leaf


@pytest.mark.parametrize(
    "tree",
    [
        *(1.5, "text", np.ones(3), np.float64(2), object(), range(3), {1, 2}, sys.float_info),
        *(Linear, Pair, TreeDef, LEAF, DictKey("a"), GetAttrKey("a"), lambda: 0),
        *(SubList([1]), SubBag((1,)), Counter("ab")),
    ],
    ids=lambda x: type(x).__name__,
)
def test_leaves(tree: Any) -> None:
    found, treedef = flatten(tree)
    assert len(found) == 1
    assert found[0] is tree
    assert treedef is LEAF
    assert unflatten(treedef, found) is tree
    assert T.map(lambda x: [x], tree)[0] is tree
    assert treedef.paths() == [()]


@pytest.mark.parametrize(
    ("tree", "text", "paths"),
    [
        (0, "*", [""]),
        (None, "None", []),
        ((), "()", []),
        ((0,), "(*,)", ["[0]"]),
        ([0, (0, None)], "[*, (*, None)]", ["[0]", "[1][0]"]),
        ({"b": 0, "a": [0, None]}, "{'a': [*, None], 'b': *}", ["['a'][0]", "['b']"]),
        ({1: 0, "a": 0}, "{1: *, 'a': *}", ["[1]", "['a']"]),
        (OrderedDict(b=0, a=0), "OrderedDict({'b': *, 'a': *})", ["['b']", "['a']"]),
        (defaultdict(list, b=0, a=0), "defaultdict(list, {'a': *, 'b': *})", ["['a']", "['b']"]),
        (defaultdict(None, a=0), "defaultdict(None, {'a': *})", ["['a']"]),
        (Pair(0, [0]), "Pair(left=*, right=[*])", [".left", ".right[0]"]),
        (Linear(0, None), "Linear(w=*, b=None, act='relu')", [".w"]),
        (Frozen(0), "Frozen(value=*, calls=*)", [".value", ".calls"]),
        (Conv(0, {"k": 0}, "no"), "Conv(w=*, b={'k': *}, act='no')", [".w", ".b['k']"]),
        (Bag((0, 0), "x"), "Bag(*, *, aux='x')", ["[<flat index 0>]", "[<flat index 1>]"]),
        (Interval(0, 0), "Interval(*, *, aux=None)", [".hi", ".lo"]),
        (SubInterval(0, 0), "SubInterval(lo=*, hi=*, note=*)", [".lo", ".hi", ".note"]),
    ],
)
def test_nodes_print_and_name_their_children(tree: Any, text: str, paths: list[str]) -> None:
    treedef = structure(tree)
    assert repr(treedef) == f"PyTreeDef({text})"
    assert [key_str(path) for path in treedef.paths()] == paths
    assert unflatten(treedef, leaves(tree)) == tree


def test_leaves_of_dicts_are_sorted_where_they_can_be() -> None:
    assert structure({"b": 0, "a": 0}) == structure({"a": 0, "b": 0})
    assert hash(structure({"b": 0, "a": 0})) == hash(structure({"a": 0, "b": 0}))
    assert leaves({"b": 2, "a": 1}) == [1, 2]
    unsortable = {"b": 2, 1: 1}
    assert leaves(unsortable) == [2, 1]
    assert list(T.map(str, unsortable)) == ["b", 1]
    assert structure(unsortable) != structure({1: 1, "b": 2})
    assert leaves(OrderedDict(b=2, a=1)) == [2, 1]
    assert structure(OrderedDict(b=0, a=0)) != structure(OrderedDict(a=0, b=0))


def keys_in_order(tree: Any) -> Any:
    """The keys of nested dicts, with the order that no comparison of dicts sees."""
    return [(k, keys_in_order(v)) for k, v in tree.items()] if isinstance(tree, dict) else None


@pytest.mark.parametrize("cls", [dict, OrderedDict, functools.partial(defaultdict, list)])
def test_dicts_are_rebuilt_in_their_own_order(cls: Any) -> None:
    for tree in (
        cls({"b": 2, "a": 1}),
        cls({"a": 1, "b": 2}),  # the same structure, met after the other order
        cls({2: 0, 1: 0, 3: 0}),
        cls({"w": cls({"z": 1, "y": 2}), "b": {"d": [3], "c": 4}}),
        {"t": 0, "s": [cls({"b": 2, "a": 1})]},
    ):
        again = T.map(lambda x: x, tree)
        assert again == tree
        assert keys_in_order(again) == keys_in_order(tree)
        if "s" in tree:
            assert list(again["s"][0]) == ["b", "a"]
        for copied in (pickle.loads(pickle.dumps(structure(tree))), copy.copy(structure(tree))):
            assert keys_in_order(unflatten(copied, leaves(tree))) == keys_in_order(tree)


def test_map_keeps_the_order_of_the_first_tree() -> None:
    first, second = {"b": 1, "a": 2}, {"a": 10, "b": 20}
    assert list(T.map(lambda x, y: x + y, first, second).items()) == [("b", 21), ("a", 12)]
    assert list(T.map(lambda x, y: x + y, second, first).items()) == [("a", 12), ("b", 21)]


@examples
@given(trees)
def test_every_order_of_keys_survives(tree: Any) -> None:
    again = unflatten(*reversed(flatten(tree)))
    assert repr(again) == repr(tree)  # what is printed shows the order too


def test_dict_kinds_are_rebuilt_with_their_class() -> None:
    counts = T.map(lambda x: x + 1, defaultdict(list, a=1))
    assert type(counts) is defaultdict
    assert counts == {"a": 2}
    assert counts["new"] == []
    assert type(T.map(str, OrderedDict(a=1))) is OrderedDict
    assert structure(defaultdict(list, a=1)) != structure(defaultdict(int, a=1))
    assert structure({"a": 1}) != structure(OrderedDict(a=1))


def test_namedtuples_are_rebuilt_without_their_constructor() -> None:
    class Unit(Pair):
        def __new__(cls, angle: float) -> Unit:
            return super().__new__(cls, np.cos(angle), np.sin(angle))

        def norm(self) -> float:
            return float(self.left**2 + self.right**2)

    doubled = T.map(lambda x: 2 * x, Unit(0.3))
    assert type(doubled) is Unit
    assert doubled.norm() == pytest.approx(4)


def test_aux_data_that_cannot_be_hashed() -> None:
    """It is compared, and what changes it later does not reach structures that are known."""
    settings_ = {"steps": 2, "names": ["a"], "at": (0, [1])}
    bag = Bag((1.0, 2.0), settings_)
    first, again = structure(bag), structure(Bag((3.0, 4.0), copy.deepcopy(settings_)))
    assert first == again and hash(first) == hash(again)
    assert structure([bag]) == structure([Bag((0, 0), dict(settings_))])
    settings_["names"].append("b")
    assert first != structure(bag) and first == again
    assert pickle.loads(pickle.dumps(first)) == first
    for old, new in (({"p": 2}, {"p": 2.0}), ((1, [0]), (1, [False])), (("p", 2), ("p", 2.0))):
        assert old == new and structure(Bag((0,), old)) != structure(Bag((0,), new))
    made = T.map(lambda x: -x, bag)
    assert made.items == (-1.0, -2.0) and made.label == settings_
    first.unflatten([1.0, 2.0]).label["steps"] = 7  # of that tree, not of the structure
    assert first == again

    calls = []

    @funcgrad.jit
    def total(bag: Any) -> Any:
        calls.append(bag.label["steps"])
        return sum(bag.items) * bag.label["steps"]

    assert [float(total(bag)), float(total(Bag((1.0, 2.0), copy.deepcopy(settings_))))] == [
        6.0,
        6.0,
    ]
    settings_["steps"] = 5
    assert float(total(bag)) == 15.0 and calls == [2, 5]


def test_dataclasses_are_rebuilt_without_their_constructor() -> None:
    frozen = T.map(lambda x: f"<{x}>", Frozen(3))  # its __post_init__ allows no str
    assert (frozen.value, frozen.calls) == ("<3>", "<7>")

    @dataclass(frozen=True, slots=True)
    class Slotted(Generic[ItemT]):
        item: ItemT
        size: int = field(kw_only=True, metadata={"static": True})

        def __post_init__(self) -> None:
            if not isinstance(self.item, int):
                raise TypeError("an int is needed")

    slotted = T.map(str, Slotted(1, size=5))
    assert (slotted.item, slotted.size) == ("1", 5)
    assert structure(Slotted(1, size=5)) == structure(Slotted(2, size=5))
    assert structure(Slotted(1, size=5)) != structure(Slotted(1, size=6))

    @dataclass
    class Empty:
        pass

    assert leaves(Empty()) == []
    assert T.map(str, Empty()) == Empty()


def test_dataclasses_that_have_other_contents_are_leaves() -> None:
    @dataclass
    class Described(dict):
        note: str = ""

    class Shape(Linear, enum.Enum):
        UNIT = (1, 2)

    assert structure(Described()) is LEAF
    assert structure(Shape.UNIT) is LEAF


def test_static_fields_are_compared_with_their_classes() -> None:
    # Equal values, but a compiled program would give other dtypes.
    defs = [structure(Linear(0, 0, static)) for static in (1, 1.0, True, np.int64(1))]
    assert len(set(defs)) == 4
    assert [unflatten(d, [0, 0]).act.__class__ for d in defs] == [int, float, bool, np.int64]


def test_keys_keep_their_classes() -> None:
    for key in (1, 1.0, True, np.int64(1), "1", np.str_("1")):
        assert type(next(iter(T.map(str, {key: 0})))) is type(key)
        assert type(next(iter(T.map(str, {key: (0,)})))) is type(key)
    for names in (("b", "a"), ("a", "b")):  # also where the order of equal keys is known
        for classes in ((str, str), (np.str_, str)):
            tree = {cls(name): name for cls, name in zip(classes, names, strict=True)}
            again = T.map(lambda x: x, tree)
            assert list(again.items()) == [(name, name) for name in names]
            assert leaves(tree) == ["a", "b"]
            assert {key: type(key) for key in again} == dict(zip(names, classes, strict=True))
    for zero in (0.0, -0.0):
        assert str(unflatten(structure(Linear(0, 0, zero)), [0, 0]).act) == str(zero)
    # ... but keys that are equal meet in tree.map.
    assert T.map(lambda x, y: x + y, {1: 2}, {np.int64(1): 3}) == {1: 5}


def test_a_class_may_be_registered_after_it_was_met() -> None:
    class Late:
        pass

    late = Late()
    assert structure((late, 1)) == structure((0, 0))
    register_node(Late, lambda _: ((1, 2), None), lambda aux, children: late)
    assert leaves((late, 1)) == [1, 2, 1]

    @dataclass
    class LateFields:
        a: Any

    before = structure(LateFields(1))
    register_node(LateFields, lambda x: ((x.a,), None), lambda _, children: LateFields(*children))
    assert structure(LateFields(1)) != before
    assert T.map(str, LateFields(1)) == LateFields("1")


def test_registered_keys_may_be_of_any_kind() -> None:
    class Keyed:
        pass

    keys = ("name", 3, ("i", "j"), DictKey("item"))
    register_node(Keyed, lambda _: ([0, 0, 0, 0], None, keys), lambda aux, children: Keyed())
    paths = structure(Keyed()).paths()
    assert [key_str(path) for path in paths] == [".name", "[3]", "[('i', 'j')]", "['item']"]


def test_the_memory_of_leaf_classes_is_bounded() -> None:
    for i in range(5000):
        assert structure([type(f"C{i}", (), {})()]) == structure([0])
    assert len(treedef.LEAVES) <= 4096
    assert structure([DictKey("a"), GetAttrKey("a")]) == structure([0, 0])  # still


def test_the_memory_of_structures_is_bounded() -> None:
    for i in range(3000):
        assert leaves({f"k{i}": [i]}) == [i]
    assert len(treedef._SHARED) <= 1024
    assert len(treedef._SORTERS) <= 1024


def test_shared_treedefs_hold_nothing_of_the_users() -> None:
    def closure() -> None:
        pass

    key = object()
    inside = structure(([Linear(0, 0, closure)], {key: 0}))
    assert not any(closure in node._aux for node in treedef._SHARED.values())
    assert not any(inside == node for node in treedef._SHARED.values())
    assert (key,) not in treedef._SORTERS


def test_structures_that_occur_again_are_the_same_object() -> None:
    treedef._SHARED.clear()
    tree = {"layers": [{"w": 1, "b": None}, Linear(1, (2, 3))], "scale": 1.0}
    assert structure(tree) is structure(copy.deepcopy(tree))


# ---- the rest of the API


def test_treedefs_are_immutable() -> None:
    treedef = structure([1])
    with pytest.raises(AttributeError, match="a TreeDef is immutable: num_leaves cannot be set"):
        treedef.num_leaves = 2
    with pytest.raises(AttributeError):
        treedef.other = 2
    assert not hasattr(treedef, "__dict__")
    assert treedef != "no TreeDef"


def test_copies_of_leaf_are_leaf() -> None:
    assert copy.deepcopy(LEAF) is LEAF
    assert copy.copy(LEAF) is LEAF
    assert pickle.loads(pickle.dumps(LEAF)) is LEAF
    assert pickle.loads(pickle.dumps(structure((1, 2)))).unflatten([1, 2]) == (1, 2)


def test_unflatten_takes_any_iterable_and_does_not_keep_it() -> None:
    given_leaves = [1, 2]
    built = unflatten(structure([0, 0]), given_leaves)
    assert built == given_leaves
    assert built is not given_leaves
    assert unflatten(structure((0, [0])), (i for i in range(2))) == (0, [1])
    assert unflatten(LEAF, iter([5])) == 5


def test_is_leaf_may_take_none_or_any_node_for_a_leaf() -> None:
    assert leaves([1, None, (2, None)], lambda x: x is None) == [1, None, 2, None]
    assert leaves(None, lambda x: x is None) == [None]
    assert T.map(len, {"a": (1, 2), "b": (3,)}, is_leaf=lambda x: type(x) is tuple) == {
        "a": 2,
        "b": 1,
    }
    assert T.map(lambda x, y: (x, y), [None, 1], [(3, 4), 5], is_leaf=lambda x: x is None) == [
        (None, (3, 4)),
        (1, 5),
    ]


def test_map_lets_through_what_its_function_raises() -> None:
    def stop(*_: Any) -> None:
        raise StopIteration("from f")

    for tree in (1, [1, 2]):
        with pytest.raises(StopIteration, match="from f"):
            T.map(stop, tree)
        with pytest.raises(StopIteration, match="from f"):
            T.map(stop, tree, tree)


@pytest.mark.parametrize("wrap", [lambda x: [x], lambda x: (x, 1), lambda x: {"k": x}, Frozen])
def test_nesting_may_be_deep(wrap: Any) -> None:
    tree: Any = [0]
    for _ in range(600):
        tree = wrap(tree) if wrap is not Frozen else unflatten(structure(Frozen([])), [tree])
    other = T.map(lambda x: x, tree)
    treedef._SHARED.clear()
    assert structure(other) == structure(tree)
    assert hash(structure(other)) == hash(structure(tree))
    assert len(repr(structure(tree))) > 600
    assert len(max(structure(tree).paths(), key=len)) >= 600
    assert set(flatten_axes("in_axes", structure(tree), 1)) == {1}


# ---- errors, word by word


def cyclic() -> list[Any]:
    """A list that contains itself."""
    inner: list[Any] = []
    inner.append({"again": inner})
    return inner


class Bad(Bag):
    pass


register_node(Bad, lambda bad: bad.label, lambda aux, children: Bad(children))
big = {f"k{i}": 0 for i in range(12)}
layers = {"w": (1, 2), "b": [1, {"u": 1, "v": 1}]}
same = functools.partial(T.map, lambda *xs: xs)
axes = functools.partial(flatten_axes, "in_axes")
WRONG = "wrong number of leaves for "
NEEDS = "tree.map needs trees of one structure, but "
FIT = "in_axes does not fit "
TAKES = (
    "flatten of Bad must return (children, aux) or (children, aux, keys) with one key per child, "
    "but returned "
)
ERRORS = [
    (lambda: unflatten(structure((1, [2])), [1]), WRONG + "PyTreeDef((*, [*])): needed 2, got 1"),
    (lambda: LEAF.unflatten([]), WRONG + "PyTreeDef(*): needed 1, got 0"),
    (lambda: structure({}).unflatten([1]), WRONG + "PyTreeDef({}): needed 0, got 1"),
    (
        lambda: flatten((1, cyclic())),
        "this tuple is nested deeper than Python's recursion limit allows: does it, or a container "
        "in it, contain itself?",
    ),
    # register_node
    (lambda: register_node_class(Interval), "Interval is already registered as a pytree node"),
    (lambda: register_node(dict, lambda _: (), Bag), "dict is already registered as a pytree node"),
    (lambda: leaves(Bad((), [1])), TAKES + "[1]"),
    (lambda: leaves(Bad((), (1, 2, 3, 4))), TAKES + "(1, 2, 3, 4)"),
    (lambda: leaves(Bad((), ([1, 2], None, ["a"]))), TAKES + "([1, 2], None, ['a'])"),
    # aux data
    (
        lambda: structure(Bag((1,), [np.ones(2)])) == structure(Bag((1,), [np.ones(2)])),
        "the aux data of Bag(*, aux=[array([1., 1.])]) cannot be compared (The truth value of an array "
        "with more than one element is ambiguous. Use a.any() or a.all()); arrays belong among the "
        "children",
    ),
    # map
    (
        lambda: same([1, 2], [1, 2, 3]),
        NEEDS + "at the top the first has a list of length 2 and number 2 has a list of length 3",
    ),
    (
        lambda: same(layers, layers, {"w": (1, 2), "b": [1, 2]}),
        NEEDS + "at ['b'][1] the first has {'u': ..., 'v': ...} and number 3 has a leaf of type "
        "int",
    ),
    (
        lambda: same({"a": Point(1, [2])}, {"a": Point(1, None)}),
        NEEDS + "at ['a'].y the first has a list of length 1 and number 2 has None",
    ),
    (
        lambda: same((Linear(1, 2),), (Linear(1, 2, "tanh"),)),
        NEEDS + "at [0] the first has Linear(w=..., b=..., act='relu') and number 2 has "
        "Linear(w=..., b=..., act='tanh')",
    ),
    (
        lambda: same(OrderedDict(a=1), {"a": 1}),
        NEEDS + "at the top the first has OrderedDict({'a': ...}) and number 2 has {'a': ...}",
    ),
    (
        lambda: same(big, {**big, "new": 1}),
        NEEDS + "at the top the first has dict with 12 children and number 2 has dict with 13 "
        "children, among them ['new']",
    ),
    # flatten_axes
    (
        lambda: axes(structure((1, 2)), (0, 1, None)),
        FIT + "at the top: found a tuple of length 3, but needed a tuple of length 2 or one entry "
        "for all of it",
    ),
    (
        lambda: axes(structure((layers, 1)), ({"w": None, "b": [0, [0, 0]]}, 0)),
        FIT + "at [0]['b'][1]: found a list of length 2, but needed {'u': ..., 'v': ...} or one "
        "entry for all of it",
    ),
    (
        lambda: axes(structure((layers, 1)), (0, {"w": 0})),
        FIT + "at [1]: found {'w': ...}, but needed one entry",
    ),
    (
        lambda: axes(structure((1, 2)), ([0], 1)),
        FIT + "at [0]: found a list of length 1, but needed one entry",
    ),
    (
        lambda: axes(structure(Linear(1, (2, 3))), Linear(0, (0,))),
        FIT + "at .b: found a tuple of length 1, but needed a tuple of length 2 or one entry for "
        "all of it",
    ),
    (
        lambda: axes(structure([None]), [()]),
        FIT + "at [0]: found a tuple of length 0, but needed None or one entry for all of it",
    ),
    (
        lambda: flatten_axes("out_axes", structure({**big, "x": 0}), {**big, "y": 0}),
        "out_axes does not fit at the top: found dict with 13 children, among them ['y'], but "
        "needed dict with 13 children, among them ['x'] or one entry for all of it",
    ),
]


@pytest.mark.parametrize(("call", "text"), ERRORS, ids=[text[:40] for _, text in ERRORS])
def test_error_texts(call: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError)) as caught:
        call()
    assert str(caught.value) == text
    is_type_error = text.startswith(("the aux data", "flatten of"))
    assert type(caught.value) is (TypeError if is_type_error else ValueError)


def test_a_long_difference_that_is_not_in_the_keys_is_shown_in_full() -> None:
    one, two = (defaultdict(factory, big) for factory in (int, list))
    with pytest.raises(ValueError, match=r"has defaultdict\(int, \{'k0': .*defaultdict\(list, "):
        same(one, two)


def test_a_treedef_of_a_class_that_is_no_node_here_is_not_loaded() -> None:
    with pytest.raises(TypeError, match="a TreeDef cannot be loaded: SubBag is not registered"):
        treedef._load(SubBag, (), (), None)


# ---------------------------------------------------------------- as one vector

ARRAYS = st.builds(
    lambda shape, dtype, seed: np.random.default_rng(seed).normal(size=shape).astype(dtype),
    st.lists(st.integers(0, 3), max_size=3).map(tuple),
    st.sampled_from(["float32", "float64"]),
    st.integers(0, 99),
)


@given(
    st.recursive(
        ARRAYS | st.none(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
        max_leaves=5,
    )
)
def test_ravel_pytree(pytree: Any) -> None:
    vector, unravel = funcgrad.flatten_util.ravel_pytree(pytree)
    leaves, treedef = T.flatten(pytree)
    assert vector.shape == (sum(x.size for x in leaves),)
    if leaves:
        assert vector.dtype == np.result_type(*leaves)
    for f in (unravel, funcgrad.jit(unravel)):
        found, other = T.flatten(f(vector))
        assert other == treedef
        for a, b in zip(found, leaves, strict=True):
            assert a.dtype == b.dtype and np.array_equal(a, b)
    if vector.size:
        of_vector = funcgrad.grad(lambda v: sum((x**2).sum() for x in T.leaves(unravel(v))))
        np.testing.assert_allclose(of_vector(vector), 2 * vector, rtol=1e-6)
        of_tree = funcgrad.grad(lambda t: (funcgrad.flatten_util.ravel_pytree(t)[0] ** 2).sum())
        for a, b in zip(T.leaves(of_tree(pytree)), leaves, strict=True):
            np.testing.assert_allclose(a, 2 * b, rtol=1e-6)
    with pytest.raises(funcgrad.errors.ShapeError, match="one element for each"):
        unravel(np.ones(vector.size + 1))
