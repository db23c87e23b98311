"""Trees of arrays: what one can do with nested containers, leaf by leaf.

Which containers are nodes is said in `treedef.py`. The names are those of ``jax.tree``.
"""

from __future__ import annotations

import builtins
import dataclasses
import functools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .tree_keys import (
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    Key,
    KeyPath,
    SequenceKey,
    key_str,
)
from .treedef import (
    KINDS,
    LEAF,
    LEAVES,
    IsLeaf,
    TreeDef,
    flatten,
    has_aux,
    register_fields,
    register_node,
    register_node_class,
)

__all__ = [
    "LEAF",
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "Key",
    "KeyPath",
    "SequenceKey",
    "TreeDef",
    "all",
    "broadcast",
    "flatten",
    "flatten_axes",
    "flatten_with_path",
    "key_str",
    "leaves",
    "leaves_with_path",
    "map",
    "map_with_path",
    "reduce",
    "reduce_associative",
    "register_fields",
    "register_node",
    "register_node_class",
    "static",
    "structure",
    "transpose",
    "unflatten",
]

_NOTHING = object()


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """Put a tree together, the inverse of `flatten`. Raises as `TreeDef.unflatten` does.

    >>> unflatten(structure({"b": (0, 0), "a": 0}), [1, 2, 3])
    {'b': (2, 3), 'a': 1}
    """
    return treedef.unflatten(leaves)


def leaves(tree: Any, is_leaf: IsLeaf = None) -> list[Any]:
    """Return the leaves of a tree. Raises as `flatten` does.

    >>> leaves({"b": 2, "a": (1, None)})
    [1, 2]
    """
    return flatten(tree, is_leaf)[0]


def structure(tree: Any, is_leaf: IsLeaf = None) -> TreeDef:
    """Return the structure of a tree. Raises as `flatten` does.

    >>> structure([1, (2, None)])
    PyTreeDef([*, (*, None)])
    """
    return flatten(tree, is_leaf)[1]


def leaves_with_path(
    tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False
) -> list[tuple[KeyPath, Any]]:
    """Return each leaf of a tree with its key path. Raises as `flatten` does.

    >>> [(key_str(path), leaf) for path, leaf in leaves_with_path({"w": [1, 2]})]
    [("['w'][0]", 1), ("['w'][1]", 2)]
    """
    return flatten_with_path(tree, is_leaf, is_leaf_takes_path)[0]


def flatten_with_path(
    tree: Any, is_leaf: Any = None, is_leaf_takes_path: bool = False
) -> tuple[list[tuple[KeyPath, Any]], TreeDef]:
    """Return each leaf of a tree with its key path, and the structure. Raises as `flatten` does.

    `is_leaf_takes_path`: `is_leaf` is given the key path and the node.

    >>> flatten_with_path((5,))
    ([((SequenceKey(idx=0),), 5)], PyTreeDef((*,)))
    >>> flatten_with_path([(1, 2), (3,)], lambda path, x: len(path) == 1, True)[1]
    PyTreeDef([*, *])
    """
    if is_leaf is not None and is_leaf_takes_path:
        answers = iter(_asked_with_path(tree, is_leaf, ()))
        is_leaf = lambda x: next(answers)  # noqa: E731 (asked for the same nodes in the same order)
    found, treedef = flatten(tree, is_leaf)
    return list(zip(treedef.paths(), found, strict=True)), treedef


def _asked_with_path(node: Any, is_leaf: Any, path: KeyPath) -> Iterator[bool]:
    """What `is_leaf` says of the nodes of a tree, from the top down and from left to right."""
    if type(node) in LEAVES or KINDS[type(node)] is None:
        return
    answer = bool(is_leaf(path, node))
    yield answer
    if not answer and node is not None:
        children, level = flatten(node, lambda x: x is not node)
        for key, child in zip(level.paths(), children, strict=True):
            yield from _asked_with_path(child, is_leaf, (*path, *key))


# ---- two trees at once


class _Mismatch(Exception):
    """Two trees differ: at `path` below the top one has `node` and the other has `tree`."""

    def __init__(self, node: TreeDef, tree: Any) -> None:
        self.path, self.node, self.tree = KeyPath(), node, tree

    def words(self) -> tuple[str, str, str]:
        """Say where it is, what the tree has there, and what the node is."""
        other = structure(self.tree, lambda x: x is not self.tree)
        found = f" of type {type(self.tree).__name__}" if other is LEAF else ""
        where = f"at {key_str(self.path)}" if self.path else "at the top"
        return where, _describe(other, self.node) + found, _describe(self.node, other)


def _describe(node: TreeDef, other: TreeDef) -> str:
    """Print a node, without what is below it, for a message that sets it against another."""
    if node._kind is None:
        return "a leaf"
    name, count = node._kind.cls.__name__, len(node._children)
    if node._kind.cls in (list, tuple):
        return f"a {name} of length {count}"
    theirs = set(other._keys())
    odd = [str(key) for key in node._keys() if key not in theirs]
    if count <= 8 or not (odd or len(theirs) != count):
        return node._kind.show(node._aux, ["..."] * count)
    return f"{name} with {count} children" + (f", among them {', '.join(odd[:8])}" if odd else "")


def _align(node: TreeDef, tree: Any, out: list[Any], spread: bool) -> None:
    """Append to `out` what `tree` has for each leaf of `node`.

    One of the two is a prefix of the other: `node`, whose leaves then take whole subtrees, or with
    `spread` the tree, whose leaves, among them None, are then repeated for all leaves below.
    """
    cls = type(tree)
    if spread and (tree is None or cls in LEAVES or KINDS[cls] is None):
        out += [tree] * node.num_leaves
        return
    kind = node._kind
    if kind is None and not spread:
        out.append(tree)
        return
    if kind is None or kind.cls is not cls:
        raise _Mismatch(node, tree)
    children, aux, _ = kind.flatten(tree)
    if len(children) != len(node._children) or not has_aux(node, aux):
        raise _Mismatch(node, tree)
    if node._flat and not spread:
        out += children
        return
    done = 0
    try:
        for sub, child in zip(node._children, children, strict=True):
            _align(sub, child, out, spread)
            done += 1
    except _Mismatch as error:
        error.path = (node._keys()[done], *error.path)
        raise


def flatten_axes(name: str, treedef: TreeDef, axes_tree: Any) -> list[Any]:
    """Spread a tree prefix, such as vmap's in_axes, to one entry per leaf of `treedef`.

    In the prefix None is a leaf as any other and says something of all that is below it.

    Raises:
        ValueError: `axes_tree`, called `name` in the message, is not a prefix.

    >>> flatten_axes("in_axes", structure(({"w": 0, "b": 0}, 0)), (None, 1))
    [None, None, 1]
    """
    out: list[Any] = []
    try:
        _align(treedef, axes_tree, out, spread=True)
    except _Mismatch as error:
        where, found, needed = error.words()
        one = "one entry" if error.node is LEAF else f"{needed} or one entry for all of it"
        raise ValueError(f"{name} does not fit {where}: found {found}, but needed {one}") from None
    return out


def _match(treedef: TreeDef, tree: Any, number: int) -> list[Any]:
    """Return what tree `number` of a map has for the leaves of the first."""
    out: list[Any] = []
    try:
        _align(treedef, tree, out, spread=False)
    except _Mismatch as error:
        where, found, needed = error.words()
        raise ValueError(
            f"tree.map needs trees of one structure, but {where} the first has {needed} "
            f"and number {number} has {found}"
        ) from None
    return out


def map(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: IsLeaf = None,
) -> Any:
    """Apply `f` to each leaf of `tree`, and what the trees in `rest` have there.

    Where `tree` has a leaf, the others may have a subtree, which is then given to `f` whole.

    Raises:
        ValueError: a tree in `rest` does not have the nodes of `tree`; and as `flatten` does.

    >>> map(lambda x, y: x + y, {"a": 1, "b": (2, None)}, {"a": 10, "b": (20, None)})
    {'a': 11, 'b': (22, None)}
    """
    first, treedef = flatten(tree, is_leaf)
    if treedef is LEAF:
        return f(tree, *rest)
    if not rest:
        return treedef.unflatten([f(leaf) for leaf in first])
    others = [_match(treedef, other, number) for number, other in enumerate(rest, 2)]
    return treedef.unflatten([f(*column) for column in zip(first, *others, strict=True)])


def map_with_path(
    f: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Any = None,
    is_leaf_takes_path: bool = False,
) -> Any:
    """Apply `f` to the key path of each leaf of `tree`, the leaf, and what the others have there.

    Raises as `map` does.

    >>> map_with_path(lambda path, x: f"{key_str(path)} is {x}", {"a": (1, 2)})
    {'a': ("['a'][0] is 1", "['a'][1] is 2")}
    """
    pairs, treedef = flatten_with_path(tree, is_leaf, is_leaf_takes_path)
    others = [_match(treedef, other, number) for number, other in enumerate(rest, 2)]
    columns = zip(pairs, *others, strict=True)
    return treedef.unflatten([f(path, leaf, *more) for (path, leaf), *more in columns])


def reduce(
    f: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = _NOTHING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves of a tree from left to right, from `initializer` on if it is given.

    Raises: TypeError: there is no leaf and nothing to start with; and as `flatten` does.

    >>> reduce(lambda x, y: x + y, {"a": 1, "b": (2, 3)})
    6
    """
    found = leaves(tree, is_leaf)
    return functools.reduce(f, found if initializer is _NOTHING else [initializer, *found])


def reduce_associative(
    operation: Callable[[Any, Any], Any],
    tree: Any,
    *,
    identity: Any = _NOTHING,
    is_leaf: IsLeaf = None,
) -> Any:
    """Combine the leaves of a tree in pairs, then the results in pairs, and so on.

    `identity` is the result if there is no leaf.

    Raises: TypeError: there is no leaf and no identity; and as `flatten` does.

    >>> reduce_associative(lambda x, y: f"({x}{y})", ["a", ("b", "c"), {"k": "d"}])
    '((ab)(cd))'
    """
    found = leaves(tree, is_leaf)
    if not found and identity is _NOTHING:
        raise TypeError("tree.reduce_associative: there is no leaf, and no identity is given")
    while len(found) > 1:
        odd = found[len(found) & ~1 :]
        found = [operation(x, y) for x, y in zip(found[::2], found[1::2], strict=False)] + odd
    return found[0] if found else identity


def broadcast(prefix_tree: Any, full_tree: Any, is_leaf: IsLeaf = None) -> Any:
    """Repeat each leaf of a tree prefix for all that `full_tree` has below it.

    A node of the prefix for which `is_leaf` is true counts as a leaf.

    Raises: ValueError: `prefix_tree` is no prefix of `full_tree`; and as `flatten` does.

    >>> broadcast((1, 2, None), (0, {"a": 0, "b": (0, 0)}, None))
    (1, {'a': 2, 'b': (2, 2)}, None)
    """
    first, treedef = flatten(prefix_tree, is_leaf)
    parts: list[Any] = []
    try:
        _align(treedef, full_tree, parts, spread=False)
    except _Mismatch as error:
        where, found, needed = error.words()
        raise ValueError(
            f"tree.broadcast: the first tree is no prefix of the second: {where} the first has "
            f"{needed} and the second has {found}"
        ) from None
    repeated = [
        x for x, part in zip(first, parts, strict=True) for _ in range(structure(part).num_leaves)
    ]
    return structure(full_tree).unflatten(repeated)


def static(**kwargs: Any) -> Any:
    """A field of a dataclass that belongs to the structure; the arguments of `dataclasses.field`.

    >>> @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     name: str = static(default="linear")
    >>> flatten(Layer(2.0))
    ([2.0], PyTreeDef(Layer(w=*, name='linear')))
    """
    metadata = {**(kwargs.pop("metadata", None) or {}), "static": True}
    return dataclasses.field(metadata=metadata, **kwargs)


def all(tree: Any, is_leaf: IsLeaf = None) -> bool:
    """Whether every leaf is true. Raises as `flatten` does.

    >>> all({"a": True, "b": (1, 0)})
    False
    """
    return builtins.all(leaves(tree, is_leaf))


def transpose(
    outer_treedef: TreeDef, inner_treedef: TreeDef | None, pytree_to_transpose: Any
) -> Any:
    """Turn a tree of structure `outer_treedef` with trees of `inner_treedef` for leaves inside out.

    Without `inner_treedef` it is that of the first of them.

    Raises: ValueError: the tree is no such one.

    >>> transpose(structure([0, 0]), None, [{"a": 1, "b": 2}, {"a": 3, "b": 4}])
    {'a': [1, 3], 'b': [2, 4]}
    """
    outer, trees = outer_treedef, _match(outer_treedef, pytree_to_transpose, 2)
    inner = inner_treedef or (structure(trees[0]) if trees else LEAF)
    rows = [_match(inner, one, number) for number, one in enumerate(trees, 1)]
    columns = zip(*rows, strict=True) if rows else [[]] * inner.num_leaves
    return inner.unflatten([outer.unflatten(column) for column in columns])
