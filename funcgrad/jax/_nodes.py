"""Dataclasses in code for JAX: nodes of trees where they have been registered, leaves elsewhere."""

from __future__ import annotations

from dataclasses import is_dataclass
from typing import Any

from ..treedef import KINDS, TreeDef

_Kinds = type(KINDS)


class _Registered(_Kinds):  # type: ignore[misc, valid-type]
    def __missing__(self, cls: type) -> Any:
        if is_dataclass(cls) and cls.__module__.partition(".")[0] not in ("funcgrad", "compat"):
            return None
        return super().__missing__(cls)


def require_registration(required: bool) -> None:
    """Take dataclasses that are first met from here on for leaves, unless they are registered.

    Those of funcgrad itself are nodes. Not `required`: all are again, as is usual here.
    """
    KINDS.__class__ = _Registered if required else _Kinds


def composed(outer: TreeDef, inner: TreeDef) -> TreeDef:
    """The structure `outer` with `inner` in the place of every leaf.

    >>> from funcgrad.tree_util import tree_structure
    >>> composed(tree_structure([0, (0, None)]), tree_structure({"a": 0}))
    PyTreeDef([{'a': *}, ({'a': *}, None)])
    """
    if not outer.num_leaves:
        return outer
    if outer._kind is None:
        return inner
    children = tuple(composed(child, inner) for child in outer._children)
    return TreeDef(outer._kind, outer._aux, children, outer._order)
