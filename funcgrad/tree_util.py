"""Trees under the names of ``jax.tree_util``; the functions are those of `tree`.

Layer 5. Classes of one's own become nodes here, as there; dataclasses are nodes without that.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from typing import Any

from . import tree
from .tree import TreeDef as PyTreeDef
from .tree import all as tree_all
from .tree import flatten as tree_flatten
from .tree import flatten_with_path as tree_flatten_with_path
from .tree import key_str as keystr
from .tree import leaves as tree_leaves
from .tree import leaves_with_path as tree_leaves_with_path
from .tree import map as tree_map
from .tree import map_with_path as tree_map_with_path
from .tree import reduce as tree_reduce
from .tree import register_node_class as register_pytree_node_class
from .tree import structure as tree_structure
from .tree import transpose as tree_transpose
from .tree import unflatten as tree_unflatten

__all__ = [
    "Partial",
    "PyTreeDef",
    "all_leaves",
    "keystr",
    "register_pytree_node",
    "register_pytree_node_class",
    "tree_all",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
]


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
) -> None:
    """Make the instances of a class nodes: `flatten_func` gives children and the rest, hashable.

    Raises: ValueError: the class is registered already.

    >>> class Ray:
    ...     def __init__(self, start, end):
    ...         self.start, self.end = start, end
    >>> register_pytree_node(Ray, lambda r: ((r.start, r.end), None), lambda _, ends: Ray(*ends))
    >>> tree_leaves(Ray(1.0, 2.0))
    [1.0, 2.0]
    """

    def flatten(node: Any) -> tuple[tuple[Any, ...], Any]:
        children, rest = flatten_func(node)
        return tuple(children), rest

    tree.register_node(nodetype, flatten, unflatten_func)


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether none of these is a node.

    >>> all_leaves([1.0, "a"]), all_leaves([1.0, (2.0,)])
    (True, False)
    """
    return all(tree.structure(x, is_leaf) is tree.LEAF for x in iterable)


class Partial(functools.partial):
    """A function with some arguments, which are the leaves; the function belongs to the structure.

    >>> add = Partial(lambda x, y: x + y, 1.0)
    >>> add(2.0), tree_map(lambda x: 10 * x, add)(2.0)
    (3.0, 12.0)
    """


register_pytree_node(
    Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, own: Partial(f, *own[0], **own[1])
)
