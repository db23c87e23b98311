"""`torch.utils._pytree`: nested lists, tuples and dicts as their leaves, in the order they have.

`funcgrad.tree` sorts the keys of dicts, PyTorch does not.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable
from typing import Any, NamedTuple

from funcgrad.tree import register_node

PyTree = Any


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
    SUPPORTED_NODES[cls] = NodeDef(cls, flatten_fn, unflatten_fn)


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


def _get_node_type(x: Any) -> Any:
    """The key of a container in `SUPPORTED_NODES`; those of leaves are not there."""
    return namedtuple if isinstance(x, tuple) and hasattr(x, "_fields") else type(x)


class NodeDef(NamedTuple):
    """What `register_pytree_node` was told of a type."""

    type: Any
    flatten_fn: Callable[[Any], tuple[Any, Any]]
    unflatten_fn: Callable[[Any, Any], Any]


def _dict_flatten(x: dict[Any, Any]) -> tuple[list[Any], list[Any]]:
    return list(x.values()), list(x)


def _sequence_unflatten(kind: type) -> Callable[[Any, Any], Any]:
    return lambda children, _: kind(children)


def _dict_unflatten(kind: type) -> Callable[[Any, Any], Any]:
    return lambda children, keys: kind(zip(keys, children, strict=True))


SUPPORTED_NODES: dict[Any, NodeDef] = {
    node.type: node
    for node in (
        *(NodeDef(c, _dict_flatten, _dict_unflatten(c)) for c in (dict, OrderedDict)),
        *(NodeDef(c, lambda x: (list(x), None), _sequence_unflatten(c)) for c in (list, tuple)),
        NodeDef(namedtuple, lambda x: (list(x), type(x)), lambda xs, kind: kind(*xs)),
        NodeDef(deque, lambda x: (list(x), x.maxlen), deque),
        NodeDef(
            defaultdict,
            lambda x: (list(x.values()), (x.default_factory, list(x))),
            lambda xs, context: defaultdict(context[0], zip(context[1], xs, strict=True)),
        ),
    )
}


def tree_flatten(
    tree: PyTree, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[Any], TreeSpec]:
    """The leaves of a tree, and the rest of it.

    >>> leaves, spec = tree_flatten({"b": 1, "a": [2, (3,)]})
    >>> leaves, tree_unflatten([x * 10 for x in leaves], spec)
    ([1, 2, 3], {'b': 10, 'a': [20, (30,)]})
    """
    node = SUPPORTED_NODES.get(_get_node_type(tree))
    if node is None or (is_leaf is not None and is_leaf(tree)):
        return [tree], LeafSpec()
    children, context = node.flatten_fn(tree)
    parts = [tree_flatten(child, is_leaf) for child in children]
    leaves = [leaf for part, _ in parts for leaf in part]
    return leaves, TreeSpec(node.type, context, [spec for _, spec in parts])


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
    children = [_filled(leaves, child) for child in spec.children_specs]
    return SUPPORTED_NODES[spec.type].unflatten_fn(children, spec.context)


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
