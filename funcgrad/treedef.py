"""The structure of pytrees: nested containers taken apart into leaves and a `TreeDef`, and back.

Nodes are dict, OrderedDict, defaultdict, list, tuple, namedtuples, None (a node without leaves),
dataclass instances and the classes given to `register_node`. All else is a leaf, also instances of
other subclasses of the built-in containers.

Every call of every transform comes through here, hence three shortcuts: the classes of leaves are
remembered in a set, a container of nothing but leaves is taken in one go, and structures that occur
again are, up to a bound, one and the same `TreeDef`. A level of nesting costs one Python frame and
no more, so that a tree may be about as deep as the recursion limit.

The leaves of a dict come in the order of its sorted keys, if they can be sorted, so that dicts with
the same keys are one structure; what is put together has the order in which the keys were inserted.
"""

from __future__ import annotations

import copy
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from itertools import chain, islice
from operator import attrgetter, is_not, itemgetter
from types import NoneType
from typing import Any, TypeVar

from .tree_keys import DictKey, FlattenedIndexKey, GetAttrKey, Key, KeyPath, SequenceKey

_Class = TypeVar("_Class", bound=type)
_Aux = tuple[Any, ...]
IsLeaf = Callable[[Any], bool] | None


# ---- kinds of nodes: `aux` is all of a node but its children, and always a tuple


class _Kind:
    """How one class is taken apart and put together; here list and tuple.

    `order`, which no comparison looks at, is the keys of a dict as inserted where that is another
    order than that of `aux`; None for all other nodes.
    """

    def __init__(self, cls: type) -> None:
        self.cls = cls

    def flatten(self, tree: Any) -> tuple[Any, _Aux, _Aux | None]:
        return tree, (), None

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        return self.cls(children)

    def keys(self, aux: _Aux, count: int) -> Sequence[Key]:
        return [SequenceKey(i) for i in range(count)]

    def show(self, aux: _Aux, parts: list[str]) -> str:
        text = ", ".join(parts)
        return f"[{text}]" if self.cls is list else f"({text},)" if len(parts) == 1 else f"({text})"


class _None(_Kind):
    def flatten(self, tree: Any) -> tuple[Any, _Aux, _Aux | None]:
        return (), (), None

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        return None

    def show(self, aux: _Aux, parts: list[str]) -> str:
        return "None"


# What sorts the keys and values of a dict, by its keys as inserted; None where there is no need.
_SORTERS: dict[tuple[str, ...], Callable[[Any], Any] | None] = {}


def _sorter(keys: tuple[Any, ...]) -> Callable[[Any], Any] | None:
    """Return what sorts `keys` and their values; None if they are sorted or cannot be."""
    try:
        order = sorted(range(len(keys)), key=keys.__getitem__)
    except TypeError:
        return None
    sort = itemgetter(*order) if order != sorted(order) else None
    if len(keys) <= 64 and all(type(key) is str for key in keys):
        if len(_SORTERS) >= 1024:
            _SORTERS.clear()
        _SORTERS[keys] = sort
    return sort


class _Dict(_Kind):
    """dict, OrderedDict, defaultdict; aux is the keys, and after them a defaultdict's factory."""

    def flatten(self, tree: Any) -> tuple[Any, _Aux, _Aux | None]:
        keys, values, order = tuple(tree), tree.values(), None
        if self.cls is OrderedDict:
            return values, keys, None
        sort: Any = _SORTERS.get(keys, _sorter)
        if sort is _sorter:
            sort = _sorter(keys)
        if sort is not None:
            order, keys, values = keys, sort(keys), sort([*values])
        return values, keys if self.cls is dict else (*keys, tree.default_factory), order

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        items: Any = zip(aux, children, strict=False)
        if order is not None:
            new = dict.fromkeys(order)
            new.update(items)
            if self.cls is dict:
                return new
            items = new
        return defaultdict(aux[-1], items) if self.cls is defaultdict else self.cls(items)

    def keys(self, aux: _Aux, count: int) -> Sequence[Key]:
        return [DictKey(key) for key in aux[:count]]

    def show(self, aux: _Aux, parts: list[str]) -> str:
        items = ", ".join(f"{key!r}: {part}" for key, part in zip(aux, parts, strict=False))
        if self.cls is defaultdict:
            return f"defaultdict({getattr(aux[-1], '__name__', aux[-1])}, {{{items}}})"
        return f"OrderedDict({{{items}}})" if self.cls is OrderedDict else f"{{{items}}}"


class _Fields(_Kind):
    """A namedtuple or a dataclass; aux is the values of a dataclass's static fields."""

    def __init__(self, cls: type, names: Sequence[str], static: Sequence[str] = ()) -> None:
        super().__init__(cls)
        self.names, self.all, self.is_tuple = names, (*names, *static), issubclass(cls, tuple)
        # attrgetter returns a tuple if given two names or more: hence __class__ twice, cut off.
        self.get = attrgetter(*self.all, "__class__", "__class__")

    def flatten(self, tree: Any) -> tuple[Any, _Aux, _Aux | None]:
        if self.is_tuple:
            return tree, (), None
        values, count = self.get(tree), len(self.names)
        return values[:count], values[count:-2], None

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        # Not through the class's own constructor: it may take other arguments, check or convert.
        if self.is_tuple:
            return tuple.__new__(self.cls, children)
        new: Any = object.__new__(self.cls)
        for name, value in zip(self.all, (*children, *aux), strict=True):
            object.__setattr__(new, name, value)  # past the __setattr__ of frozen classes
        return new

    def keys(self, aux: _Aux, count: int) -> Sequence[Key]:
        return [GetAttrKey(name) for name in self.names]

    def show(self, aux: _Aux, parts: list[str]) -> str:
        shown = zip(self.all, (*parts, *map(repr, aux)), strict=True)
        return f"{self.cls.__name__}({', '.join(f'{name}={part}' for name, part in shown)})"


class _Built(_Fields):
    """A class that is put together by calling it with the fields by name."""

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        return self.cls(**dict(zip(self.all, (*children, *aux), strict=True)))


def _key(key: Any) -> Key:
    """A key that is given for a child: of what is no step of a path, a str is an attribute."""
    if isinstance(key, Key):
        return key
    return GetAttrKey(key) if isinstance(key, str) else DictKey(key)


class _Registered(_Kind):
    """A class given to `register_node`; aux is the user's aux data and the keys or None."""

    def __init__(self, cls: type, take: Callable[..., Any], make: Callable[..., Any]) -> None:
        super().__init__(cls)
        self.take, self.make = take, make

    def flatten(self, tree: Any) -> tuple[Any, _Aux, _Aux | None]:
        parts = self.take(tree)
        if isinstance(parts, tuple) and len(parts) in (2, 3):
            children, aux, *rest = tuple(parts[0]), *parts[1:]
            if not rest:
                return children, (aux, None), None
            keys = tuple(map(_key, rest[0]))
            if len(keys) == len(children):
                return children, (aux, keys), None
        raise TypeError(
            f"flatten of {self.cls.__name__} must return (children, aux) or (children, aux, keys) "
            f"with one key per child, but returned {parts!r}"
        )

    def unflatten(self, aux: _Aux, children: list[Any], order: _Aux | None) -> Any:
        return self.make(aux[0], tuple(children))

    def keys(self, aux: _Aux, count: int) -> Sequence[Key]:
        return [FlattenedIndexKey(i) for i in range(count)] if aux[1] is None else aux[1]

    def show(self, aux: _Aux, parts: list[str]) -> str:
        return f"{self.cls.__name__}({', '.join([*parts, f'aux={aux[0]!r}'])})"


# ---- classes

_HEAPTYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a class statement
LEAVES: set[type] = set()  # classes known to be leaves


class _Kinds(dict[type, _Kind]):
    """The kind of each class of nodes; of any other class None, and it is put into `LEAVES`."""

    def __missing__(self, cls: type) -> _Kind | None:
        if issubclass(cls, Enum | Key):  # constants, even of a dataclass, and nobody's containers
            pass
        elif is_dataclass(cls) and all(b is object or b.__flags__ & _HEAPTYPE for b in cls.__mro__):
            # No base is written in C, such as dict, whose contents are in no field.
            static = [f.name for f in fields(cls) if f.metadata.get("static")]
            names = [f.name for f in fields(cls) if f.name not in static]
            return self.setdefault(cls, _Fields(cls, names, static))
        elif issubclass(cls, tuple) and hasattr(cls, "_fields") and hasattr(cls, "_make"):
            return self.setdefault(cls, _Fields(cls, cls._fields))
        if len(LEAVES) >= 4096:  # a program that makes classes as it runs must not fill the memory
            LEAVES.clear()
        LEAVES.add(cls)
        return None


KINDS = _Kinds({cls: _Dict(cls) for cls in (dict, OrderedDict, defaultdict)})
KINDS.update({NoneType: _None(NoneType), tuple: _Kind(tuple), list: _Kind(list)})


def register_node(
    cls: type,
    flatten: Callable[[Any], tuple[Any, ...]],
    unflatten: Callable[[Any, tuple[Any, ...]], Any],
) -> None:
    """Make the instances of `cls`, but not of its subclasses, nodes.

    `flatten(obj)` returns `(children, aux)`, where `aux` can be compared, or `(children, aux, keys)`
    with a key per child for key paths: a `Key`, or of anything else a str is an attribute.
    `unflatten(aux, children)` undoes it. Of an `aux` that cannot be hashed the structure has a copy,
    so that later changes to it are seen.

    Raises:
        ValueError: `cls` is registered already.

    >>> class Box:
    ...     def __init__(self, x):
    ...         self.x = x
    >>> register_node(Box, lambda box: ((box.x,), None, ("x",)), lambda _, children: Box(*children))
    >>> leaves, treedef = flatten(Box(2))
    >>> treedef.unflatten([10 * x for x in leaves]).x
    20
    """
    _register(cls, _Registered(cls, flatten, unflatten))


def _register(cls: type, kind: _Kind) -> None:
    if type(KINDS.get(cls)) not in (NoneType, _Fields):
        raise ValueError(f"{cls.__name__} is already registered as a pytree node")
    KINDS[cls] = kind
    LEAVES.discard(cls)


def register_fields(cls: type, names: Sequence[str], static: Sequence[str]) -> None:
    """Make the instances of `cls`, but not of its subclasses, nodes whose children are attributes.

    The attributes `static` belong to the structure. What is put together is made by calling `cls`
    with all of these by name.

    Raises:
        ValueError: `cls` is registered already.

    >>> class Ray:
    ...     def __init__(self, start, unit):
    ...         self.start, self.unit = start, unit
    >>> register_fields(Ray, ["start"], ["unit"])
    >>> flatten(Ray(2.0, "m"))
    ([2.0], PyTreeDef(Ray(start=*, unit='m')))
    """
    _register(cls, _Built(cls, names, static))


def register_node_class(cls: _Class) -> _Class:
    """Register a class by its method `tree_flatten` and classmethod `tree_unflatten`.

    Raises:
        ValueError: `cls` is registered already.

    >>> @register_node_class
    ... class Length:
    ...     def __init__(self, x, unit):
    ...         self.x, self.unit = x, unit
    ...
    ...     def tree_flatten(self):
    ...         return (self.x,), self.unit
    ...
    ...     @classmethod
    ...     def tree_unflatten(cls, aux, children):
    ...         return cls(*children, aux)
    >>> flatten(Length(1.0, "m"))[1]
    PyTreeDef(Length(*, aux='m'))
    """
    register_node(cls, cls.tree_flatten, cls.tree_unflatten)  # type: ignore[attr-defined]
    return cls


# ---- structures


def _hash(kind: _Kind | None, aux: _Aux, children: tuple[TreeDef, ...]) -> int | None:
    try:
        return hash((kind and kind.cls, aux, children))
    except TypeError:
        return None


def _copied(aux: Any) -> Any:
    """A copy that shares only what can be hashed, and so should not change."""
    try:
        hash(aux)
        return aux
    except TypeError:
        pass
    if type(aux) in (tuple, list):
        return type(aux)(map(_copied, aux))
    if type(aux) is dict:
        return {key: _copied(value) for key, value in aux.items()}
    return copy.deepcopy(aux)


class TreeDef:
    """The structure of a tree, that is all but its leaves: immutable, hashable, comparable.

    Two dicts with the same keys have one structure whatever their order, which `unflatten` keeps.

    >>> treedef = flatten({"a": 1, "b": [2, None]})[1]
    >>> treedef, treedef.num_leaves, treedef == flatten({"b": [0, None], "a": 0})[1]
    (PyTreeDef({'a': *, 'b': [*, None]}), 2, True)
    """

    __slots__ = (
        "_aux",
        "_children",
        "_fixed",
        "_flat",
        "_hash",
        "_kind",
        "_order",
        "_paths",
        "_shared",
        "num_leaves",
    )
    _kind: _Kind | None  # None: a leaf
    _aux: _Aux
    _children: tuple[TreeDef, ...]
    _fixed: bool  # its aux data can be hashed; else it is a copy, and trees get copies of it
    _flat: bool  # a node of nothing but leaves, and with such aux data
    _hash: int
    _order: _Aux | None  # see _Kind
    _paths: tuple[KeyPath, ...] | None  # of the leaves, once they have been asked for
    _shared: bool  # the same object for all trees of this structure
    num_leaves: int

    def __init__(
        self,
        kind: _Kind | None,
        aux: _Aux,
        children: tuple[TreeDef, ...],
        order: _Aux | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "_kind", kind)
        put(self, "_aux", aux)
        put(self, "_order", order)
        put(self, "_children", children)
        fixed = _hash(kind, aux, children)
        put(self, "_fixed", fixed is not None)
        put(self, "_hash", hash((kind and kind.cls, children)) if fixed is None else fixed)
        flat = self._fixed and kind is not None and all(child is LEAF for child in children)
        put(self, "_flat", flat)
        put(self, "_paths", None)
        put(self, "_shared", kind is None or kind.cls is NoneType)
        put(self, "num_leaves", 1 if kind is None else sum(c.num_leaves for c in children))

    def unflatten(self, leaves: Iterable[Any]) -> Any:
        """Put a tree of this structure together.

        Raises:
            ValueError: there are not `num_leaves` leaves.

        >>> flatten((0, {"a": 0}))[1].unflatten("xy")
        ('x', {'a': 'y'})
        """
        leaves = list(leaves)
        if len(leaves) != self.num_leaves:
            needed = f"needed {self.num_leaves}, got {len(leaves)}"
            raise ValueError(f"wrong number of leaves for {self!r}: {needed}")
        if self._flat and self._kind is not None:
            return self._kind.unflatten(self._aux, leaves, self._order)
        return _build(self, iter(leaves))

    def flatten_up_to(self, tree: Any) -> list[Any]:
        """What a tree has where the leaves are; ValueError: it is another one above them."""
        if self._kind is None:
            return [tree]
        if type(tree) is self._kind.cls:
            children, aux, _ = self._kind.flatten(tree)
            if len(children) == len(self._children) and has_aux(self, aux):
                return list(chain(*map(TreeDef.flatten_up_to, self._children, children)))
        raise ValueError(f"needed {self!r}, found {type(tree).__name__}")

    @property
    def num_nodes(self) -> int:
        """How many nodes and leaves there are in all."""
        return 1 + sum(child.num_nodes for child in self._children)

    def children(self) -> list[TreeDef]:
        """The structures of the children of a node; of a leaf, none."""
        return list(self._children)

    def paths(self) -> list[KeyPath]:
        """Return the key path of each leaf.

        >>> [[str(key) for key in path] for path in flatten({"w": [0, 0]})[1].paths()]
        [["['w']", '[0]'], ["['w']", '[1]']]
        """
        known = self._paths
        if known is None:
            paths: list[KeyPath] = []
            _add_paths(self, (), paths)
            known = tuple(paths)
            object.__setattr__(self, "_paths", known)
        return list(known)

    def _keys(self) -> Sequence[Key]:
        return self._kind.keys(self._aux, len(self._children)) if self._kind else ()

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a TreeDef is immutable: {name} cannot be set")

    def __eq__(self, other: object) -> bool:
        return _same(self, other) if isinstance(other, TreeDef) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"PyTreeDef({_show(self)})"

    def __reduce__(self) -> Any:  # kinds and LEAF are compared by identity: a copy must find them
        if self._kind is None:
            return "LEAF"
        return _load, (self._kind.cls, self._aux, self._children, self._order)


LEAF = TreeDef(None, (), ())
NONE = TreeDef(KINDS[NoneType], (), ())


def _load(cls: type, aux: _Aux, children: tuple[TreeDef, ...], order: _Aux | None) -> TreeDef:
    kind = KINDS[cls]
    if kind is None:
        raise TypeError(f"a TreeDef cannot be loaded: {cls.__name__} is not registered here")
    return TreeDef(kind, aux, children, order)


def _same(a: TreeDef, b: TreeDef) -> bool:
    # The classes in aux too: a program compiled for a static 1 is not the one for 1.0 or True.
    return a is b or (
        a._hash == b._hash
        and a._kind is b._kind
        and len(a._children) == len(b._children)
        and has_aux(a, b._aux)
        and not any(map(is_not, map(type, a._aux), map(type, b._aux)))
        and (_PLAIN.issuperset(map(type, a._aux)) or _same_classes(a._aux, b._aux))
        and all(map(_same, a._children, b._children))
    )


def _same_classes(a: Any, b: Any) -> bool:
    """Whether equal values are of the same classes, also inside of containers."""
    if type(a) is not type(b):
        return False
    if type(a) in (tuple, list):
        return all(map(_same_classes, a, b))
    return type(a) is not dict or all(_same_classes(value, b[key]) for key, value in a.items())


def has_aux(node: TreeDef, aux: _Aux) -> bool:
    """Whether this is the aux data of a node.

    Raises: TypeError: it cannot be compared.
    """
    try:
        return node._aux == aux
    except ValueError as error:
        raise TypeError(
            f"the aux data of {_show(node)} cannot be compared ({error}); arrays belong among the "
            "children"
        ) from error


def _show(node: TreeDef) -> str:
    return node._kind.show(node._aux, [*map(_show, node._children)]) if node._kind else "*"


def _add_paths(node: TreeDef, path: KeyPath, paths: list[KeyPath]) -> None:
    if node._kind is None:
        paths.append(path)
        return
    for key, child in zip(node._keys(), node._children, strict=True):
        _add_paths(child, (*path, key), paths)


def _build(node: TreeDef, leaves: Iterator[Any]) -> Any:
    if node._kind is None:
        return next(leaves)
    if node._flat:
        return node._kind.unflatten(node._aux, [*islice(leaves, node.num_leaves)], node._order)
    children = []
    for child in node._children:
        children.append(_build(child, leaves))  # noqa: PERF401 - one frame a level
    aux = node._aux if node._fixed else _copied(node._aux)
    return node._kind.unflatten(aux, children, node._order)


# ---- flattening

# The TreeDefs that are shared, by kind, aux, order, children (see _walk) and the classes in aux.
_SHARED: dict[tuple[Any, ...], TreeDef] = {}
# The classes that may occur in the aux data of a shared TreeDef. Equal values of one of them cannot
# be told apart, unlike 0.0 and -0.0, and they keep no data of the user's alive, unlike closures.
_PLAIN = {str, int, bool, NoneType, type}


def _share(key: tuple[Any, ...], node: TreeDef) -> TreeDef:
    """Make `node` the one for its `key`, if it is plain and not too large to be kept."""
    if (
        len(key) <= 512
        and _PLAIN.issuperset(map(type, node._aux))
        and all(child._shared for child in node._children)
    ):
        if len(_SHARED) >= 1024:
            _SHARED.clear()
        object.__setattr__(node, "_shared", True)
        return _SHARED.setdefault(key, node)
    return node


def _walk(tree: Any, kind: _Kind, is_leaf: IsLeaf, out: list[Any]) -> TreeDef:
    if tree is None:
        return NONE
    children, aux, order = kind.flatten(tree)
    nodes: list[TreeDef] | None = None
    if LEAVES.issuperset(map(type, children)):
        out += children
        key = (kind, aux, order, len(children), *map(type, aux)) if aux else (kind, len(children))
    else:
        nodes = []
        for child in children:
            cls = type(child)
            if cls in LEAVES or (sub := KINDS[cls]) is None or (is_leaf and is_leaf(child)):
                out.append(child)
                nodes.append(LEAF)
            else:
                nodes.append(_walk(child, sub, is_leaf, out))
        # Shared nodes live as long as what is known under their ids, so that ids identify them.
        key = (kind, aux, order, *map(id, nodes), *map(type, aux))
    try:
        known = _SHARED.get(key)
    except TypeError:  # not hashable
        return TreeDef(kind, _copied(aux), tuple(nodes or [LEAF] * len(children)), order)
    if known is None:
        nodes = [LEAF] * len(children) if nodes is None else nodes
        known = _share(key, TreeDef(kind, aux, tuple(nodes), order))
    return known


def flatten(tree: Any, is_leaf: IsLeaf = None) -> tuple[list[Any], TreeDef]:
    """Take a tree apart; a node for which `is_leaf` is true counts as a leaf.

    Raises:
        ValueError: the tree contains itself, or is nested too deeply for Python's recursion limit.
        TypeError: the aux data of a node can be neither hashed nor copied.

    >>> flatten({"b": 2, "a": (1, None)})
    ([1, 2], PyTreeDef({'a': (*, None), 'b': *}))
    """
    cls = type(tree)
    if cls in LEAVES or (kind := KINDS[cls]) is None or (is_leaf and is_leaf(tree)):
        return [tree], LEAF
    out: list[Any] = []
    try:
        return out, _walk(tree, kind, is_leaf, out)
    except RecursionError as error:
        raise ValueError(
            f"this {cls.__name__} is nested deeper than Python's recursion limit allows: "
            "does it, or a container in it, contain itself?"
        ) from error
