"""Trees under the names of ``jax.tree_util``; the functions are those of `tree`.

Layer 5. Classes of one's own become nodes here, as there; dataclasses are nodes without that.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

from . import tree
from .tree import (
    LEAF,
    DictKey,
    FlattenedIndexKey,
    GetAttrKey,
    KeyPath,
    SequenceKey,
)
from .tree import Key as KeyEntry
from .tree import TreeDef as PyTreeDef
from .tree import all as tree_all
from .tree import broadcast as tree_broadcast
from .tree import flatten as tree_flatten
from .tree import flatten_with_path as tree_flatten_with_path
from .tree import key_str as keystr
from .tree import leaves as tree_leaves
from .tree import leaves_with_path as tree_leaves_with_path
from .tree import map as tree_map
from .tree import map_with_path as tree_map_with_path
from .tree import reduce as tree_reduce
from .tree import reduce_associative as tree_reduce_associative
from .tree import register_node_class as register_pytree_node_class
from .tree import structure as tree_structure
from .tree import transpose as tree_transpose
from .tree import unflatten as tree_unflatten
from .treedef import KINDS

__all__ = [
    "DictKey",
    "FlattenedIndexKey",
    "GetAttrKey",
    "KeyEntry",
    "KeyPath",
    "Partial",
    "PyTreeDef",
    "SequenceKey",
    "all_leaves",
    "default_registry",
    "keystr",
    "register_dataclass",
    "register_pytree_node",
    "register_pytree_node_class",
    "register_pytree_with_keys",
    "register_pytree_with_keys_class",
    "register_static",
    "tree_all",
    "tree_broadcast",
    "tree_flatten",
    "tree_flatten_with_path",
    "tree_leaves",
    "tree_leaves_with_path",
    "tree_map",
    "tree_map_with_path",
    "tree_reduce",
    "tree_reduce_associative",
    "tree_structure",
    "tree_transpose",
    "tree_unflatten",
    "treedef_children",
    "treedef_is_leaf",
    "treedef_tuple",
]

_Class = TypeVar("_Class", bound=type)
KeysAndRest = tuple[Iterable[tuple[Any, Any]], Any]


# ---------------------------------------------------------------- classes as nodes


def register_pytree_node(
    nodetype: type,
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_with_keys_func: Callable[[Any], KeysAndRest] | None = None,
) -> None:
    """Make the instances of a class nodes: `flatten_func` gives children and the rest, hashable.

    `flatten_with_keys_func`, if there is one, is called in its place; see `register_pytree_with_keys`.

    Raises: ValueError: the class is registered already.

    >>> class Ray:
    ...     def __init__(self, start, end):
    ...         self.start, self.end = start, end
    >>> register_pytree_node(Ray, lambda r: ((r.start, r.end), None), lambda _, ends: Ray(*ends))
    >>> tree_leaves(Ray(1.0, 2.0))
    [1.0, 2.0]
    """
    if flatten_with_keys_func is not None:
        register_pytree_with_keys(nodetype, flatten_with_keys_func, unflatten_func)
        return

    def flatten(node: Any) -> tuple[tuple[Any, ...], Any]:
        children, rest = flatten_func(node)
        return tuple(children), rest

    tree.register_node(nodetype, flatten, unflatten_func)


def register_pytree_with_keys(
    nodetype: type,
    flatten_with_keys: Callable[[Any], KeysAndRest],
    unflatten_func: Callable[[Any, Any], Any],
    flatten_func: Callable[[Any], tuple[Iterable[Any], Any]] | None = None,
) -> None:
    """Make the instances of a class nodes: `flatten_with_keys` gives pairs (key, child) and the rest.

    Keys, steps of key paths, are `GetAttrKey` and the like. `flatten_func`, the same without keys, is
    not called.

    Raises: ValueError: the class is registered already.

    >>> class Ray:
    ...     def __init__(self, start, end):
    ...         self.start, self.end = start, end
    >>> def named(ray):
    ...     return ((GetAttrKey("start"), ray.start), (GetAttrKey("end"), ray.end)), None
    >>> register_pytree_with_keys(Ray, named, lambda _, ends: Ray(*ends))
    >>> [keystr(path) for path, _ in tree_leaves_with_path(Ray(1.0, [2.0]))]
    ['.start', '.end[0]']
    """

    def flatten(node: Any) -> tuple[tuple[Any, ...], Any, tuple[Any, ...]]:
        pairs, rest = flatten_with_keys(node)
        pairs = tuple(pairs)
        return tuple(child for _, child in pairs), rest, tuple(key for key, _ in pairs)

    tree.register_node(nodetype, flatten, unflatten_func)


def register_pytree_with_keys_class(cls: _Class) -> _Class:
    """Register a class by its method `tree_flatten_with_keys` and classmethod `tree_unflatten`.

    Raises: ValueError: the class is registered already.

    >>> @register_pytree_with_keys_class
    ... class Table:
    ...     def __init__(self, rows):
    ...         self.rows = rows
    ...
    ...     def tree_flatten_with_keys(self):
    ...         return ((DictKey(k), row) for k, row in self.rows.items()), tuple(self.rows)
    ...
    ...     @classmethod
    ...     def tree_unflatten(cls, keys, rows):
    ...         return cls(dict(zip(keys, rows)))
    >>> tree_map(lambda x: 2 * x, Table({"a": 1.0})).rows
    {'a': 2.0}
    """
    made: Any = cls
    register_pytree_with_keys(cls, made.tree_flatten_with_keys, made.tree_unflatten)
    return cls


def register_static(cls: _Class) -> _Class:
    """Make the instances of a class, which are hashable, nodes without leaves.

    Raises: ValueError: the class is registered already.

    >>> @register_static
    ... class Mode(str):
    ...     pass
    >>> tree_leaves((Mode("train"), 1.0))
    [1.0]
    """
    tree.register_node(cls, lambda node: ((), node), lambda node, _: node)
    return cls


def register_dataclass(
    nodetype: _Class,
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
    drop_fields: Sequence[str] = (),
) -> _Class:
    """Make the instances of a class nodes: its children are `data_fields`, its rest `meta_fields`.

    Of a dataclass these are by default the fields of its constructor, those with ``static`` in their
    metadata being the rest. A tree is put together by calling the class with all of them by name; so
    `drop_fields` of a dataclass become what they are by default.

    Raises: TypeError: one of `data_fields` and `meta_fields` is missing, or both of no dataclass.
    ValueError: a field is missing, unknown or given twice, or the class is registered already.

    >>> @register_dataclass
    ... @dataclasses.dataclass
    ... class Layer:
    ...     w: float
    ...     act: str = dataclasses.field(metadata={"static": True}, default="tanh")
    >>> tree_flatten(Layer(1.0))
    ([1.0], PyTreeDef(Layer(w=*, act='tanh')))
    """
    name = getattr(nodetype, "__name__", repr(nodetype))
    if (data_fields is None) != (meta_fields is None):
        raise TypeError(f"register_dataclass of {name}: data_fields and meta_fields go together")
    if data_fields is None or meta_fields is None:
        if not dataclasses.is_dataclass(nodetype):
            raise TypeError(
                f"register_dataclass of {name}, which is no dataclass, needs data_fields and "
                "meta_fields"
            )
        own = [f for f in dataclasses.fields(nodetype) if f.init and f.name not in drop_fields]
        data_fields = [f.name for f in own if not f.metadata.get("static")]
        meta_fields = [f.name for f in own if f.metadata.get("static")]
    _require_fields(name, nodetype, [*data_fields, *meta_fields], drop_fields)
    tree.register_fields(nodetype, tuple(data_fields), tuple(meta_fields))
    return nodetype


def _require_fields(name: str, cls: Any, given: Sequence[str], dropped: Sequence[str]) -> None:
    twice = sorted({field for field in given if given.count(field) > 1})
    if twice:
        raise ValueError(f"register_dataclass of {name}: {twice} are given twice")
    if not dataclasses.is_dataclass(cls):
        return
    fields = {field.name for field in dataclasses.fields(cls) if field.init}
    unknown = sorted({*given, *dropped} - fields)
    missing = sorted(fields - {*given, *dropped})
    for word, names in (("has no", unknown), ("does not say what is with", missing)):
        if names:
            raise ValueError(f"register_dataclass of {name} {word} the fields {names}")


# ---------------------------------------------------------------- structures


def treedef_children(treedef: PyTreeDef) -> list[PyTreeDef]:
    """The structures of the children of a node; of a leaf, none.

    >>> treedef_children(tree_structure([(1, 2), 3]))
    [PyTreeDef((*, *)), PyTreeDef(*)]
    """
    return treedef.children()


def treedef_is_leaf(treedef: PyTreeDef) -> bool:
    """Whether there are no children: of a leaf and, as in JAX, of None and of empty containers.

    >>> treedef_is_leaf(tree_structure(1.0)), treedef_is_leaf(tree_structure([1.0]))
    (True, False)
    """
    return not treedef._children


def treedef_tuple(treedefs: Iterable[PyTreeDef]) -> PyTreeDef:
    """The structure of a tuple of trees with these structures.

    >>> treedef_tuple([tree_structure(1), tree_structure([2])])
    PyTreeDef((*, [*]))
    """
    return PyTreeDef(KINDS[tuple], (), tuple(treedefs))


def all_leaves(iterable: Iterable[Any], is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether none of these is a node.

    >>> all_leaves([1.0, "a"]), all_leaves([1.0, (2.0,)])
    (True, False)
    """
    return all(tree.structure(x, is_leaf) is LEAF for x in iterable)


class _Registry:
    """The classes of nodes."""

    def flatten_one_level(self, x: Any) -> tuple[list[Any], Any] | None:
        """The children of a node, and the rest of it; None for a leaf.

        >>> default_registry.flatten_one_level([1, (2, 3)]), default_registry.flatten_one_level(1)
        (([1, (2, 3)], ()), None)
        """
        kind = KINDS[type(x)]
        if kind is None:
            return None
        children, rest, _ = kind.flatten(x)
        return list(children), rest


default_registry = _Registry()


class Partial(functools.partial):
    """A function with some arguments, which are the leaves; the function belongs to the structure.

    >>> add = Partial(lambda x, y: x + y, 1.0)
    >>> add(2.0), tree_map(lambda x: 10 * x, add)(2.0)
    (3.0, 12.0)
    """


register_pytree_node(
    Partial, lambda p: ((p.args, p.keywords), p.func), lambda f, own: Partial(f, *own[0], **own[1])
)
