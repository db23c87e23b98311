"""`torch.utils._pytree`: nested lists, tuples and dicts as their leaves, in the order they have.

`funcgrad.tree` sorts the keys of dicts, PyTorch does not.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad.tree import register_node

PyTree = Any
_OWN: dict[type, tuple[Callable[[Any], Any], Callable[[Any, Any], Any]]] = {}  # by class


def register_pytree_node(
    cls: type,
    flatten_fn: Callable[[Any], tuple[Any, Any]],
    unflatten_fn: Callable[[Any, Any], Any],
    *,
    serialized_type_name: str | None = None,
    to_dumpable_context: Callable[[Any], Any] | None = None,
    from_dumpable_context: Callable[[Any], Any] | None = None,
    flatten_with_keys_fn: Callable[[Any], Any] | None = None,
) -> None:
    """Make the instances of `cls`, but not of its subclasses, containers: for transforms, too.

    ``flatten_fn(x)`` gives the children and a context, ``unflatten_fn(children, context)`` undoes it.
    The other arguments are about files and names of children, which are not offered.

    Raises: ValueError: `cls` is registered already.

    >>> class Pair:
    ...     def __init__(self, a, b):
    ...         self.a, self.b = a, b
    >>> register_pytree_node(Pair, lambda p: ([p.a, p.b], None), lambda xs, _: Pair(*xs))
    >>> tree_map(lambda x: 2 * x, Pair(1, [2, 3])).b
    [4, 6]
    """
    register_node(
        cls,
        lambda x: tuple(flatten_fn(x)),
        lambda context, children: unflatten_fn(list(children), context),
    )
    _OWN[cls] = flatten_fn, unflatten_fn


class TreeSpec(NamedTuple):
    """What a container is: its type, what makes another one of it, and what it contains."""

    type: Any
    context: Any
    children_specs: list[Any]

    @property
    def num_leaves(self) -> int:
        """How many leaves there are below."""
        return 1 if self.type is None else sum(c.num_leaves for c in self.children_specs)

    def is_leaf(self) -> bool:
        """Whether this is a leaf and no container."""
        return self.type is None


class LeafSpec(TreeSpec):
    """A leaf."""

    def __new__(cls) -> LeafSpec:
        return super().__new__(cls, None, None, [])


def _is_namedtuple(x: Any) -> bool:
    return isinstance(x, tuple) and hasattr(x, "_fields")


def _children(x: Any) -> tuple[Any, Any, list[Any]] | None:
    """The type, the context and the children of a container; None for a leaf."""
    kind = type(x)
    if kind in (dict, OrderedDict):
        return kind, list(x), list(x.values())
    if kind is defaultdict:
        return kind, (x.default_factory, list(x)), list(x.values())
    if kind is deque:
        return kind, x.maxlen, list(x)
    if kind in (list, tuple) or _is_namedtuple(x):
        return kind, None, list(x)
    if kind in _OWN:
        children, context = _OWN[kind][0](x)
        return kind, context, list(children)
    return None


def _made(spec: TreeSpec, children: list[Any]) -> Any:
    """A container of new children."""
    kind = spec.type
    if kind in (dict, OrderedDict):
        return kind(zip(spec.context, children, strict=True))
    if kind is defaultdict:
        factory, keys = spec.context
        return defaultdict(factory, zip(keys, children, strict=True))
    if kind is deque:
        return deque(children, maxlen=spec.context)
    if kind in _OWN:
        return _OWN[kind][1](children, spec.context)
    return kind(children) if kind in (list, tuple) else kind(*children)


def tree_flatten(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and the rest of it.

    >>> leaves, spec = tree_flatten({"b": 1, "a": [2, (3,)]})
    >>> leaves, tree_unflatten([x * 10 for x in leaves], spec)
    ([1, 2, 3], {'b': 10, 'a': [20, (30,)]})
    """
    found = None if is_leaf is not None and is_leaf(tree) else _children(tree)
    if found is None:
        return [tree], LeafSpec()
    kind, context, children = found
    parts = [tree_flatten(child, is_leaf) for child in children]
    leaves = [leaf for part, _ in parts for leaf in part]
    return leaves, TreeSpec(kind, context, [spec for _, spec in parts])


def tree_unflatten(leaves: Any, treespec: TreeSpec) -> PyTree:
    """The tree of which these are the leaves.

    Raises: ValueError: there are too few or too many.
    """
    leaves = list(leaves)
    if len(leaves) != treespec.num_leaves:
        raise ValueError(
            f"tree_unflatten(leaves, treespec): `leaves` has length {len(leaves)} but the spec "
            f"refers to a pytree that holds {treespec.num_leaves} items ({treespec})."
        )
    return _filled(iter(leaves), treespec)


def _filled(leaves: Any, spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return next(leaves)
    return _made(spec, [_filled(leaves, child) for child in spec.children_specs])


def tree_leaves(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves."""
    return tree_flatten(tree, is_leaf)[0]


def tree_structure(tree: PyTree, is_leaf: Callable[[Any], bool] | None = None) -> TreeSpec:
    """The tree without its leaves."""
    return tree_flatten(tree, is_leaf)[1]


def tree_map(
    func: Callable[..., Any],
    tree: PyTree,
    *rests: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """The tree of ``func(leaf, *leaves of the rests)``.

    >>> tree_map(lambda x, y: x + y, [1, {"a": 2}], [10, {"a": 20}])
    [11, {'a': 22}]
    """
    leaves, spec = tree_flatten(tree, is_leaf)
    columns = [leaves, *(tree_flatten(rest, is_leaf)[0] for rest in rests)]
    return tree_unflatten([func(*row) for row in zip(*columns, strict=True)], spec)


def tree_map_only(
    type_or_types: Any,
    func: Callable[[Any], Any],
    tree: PyTree,
    is_leaf: Callable[[Any], bool] | None = None,
) -> PyTree:
    """`tree_map` for leaves of some types; the others stay."""
    return tree_map(lambda x: func(x) if isinstance(x, type_or_types) else x, tree, is_leaf=is_leaf)


def tree_any(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Whether `pred` is true of some leaf."""
    return any(map(pred, tree_leaves(tree)))


def tree_all(pred: Callable[[Any], bool], tree: PyTree) -> bool:
    """Whether `pred` is true of every leaf."""
    return all(map(pred, tree_leaves(tree)))
