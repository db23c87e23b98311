"""Which classes are nodes of trees, and how they are taken apart, as flax and jaxlie ask."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...treedef import KINDS

__all__ = ["_registry"]


class _Node(NamedTuple):
    """How nodes of a class are taken apart and put together."""

    kind: Any

    def to_iter(self, tree: Any) -> tuple[Any, Any]:
        """The children of a node, and what else there is of it."""
        return self.kind.flatten(tree)[:2]

    def from_iter(self, aux: Any, children: Iterable[Any]) -> Any:
        """The node of these children."""
        return self.kind.unflatten(aux, list(children), None)


class _Registry(Mapping[type, _Node]):
    """The classes that are nodes.

    >>> children, aux = _registry[dict].to_iter({"a": 1, "b": 2})
    >>> _registry[dict].from_iter(aux, [2 * x for x in children]), int in _registry
    ({'a': 2, 'b': 4}, False)
    """

    def __getitem__(self, cls: type) -> _Node:
        kind = KINDS[cls]
        if kind is None:
            raise KeyError(cls)
        return _Node(kind)

    def __iter__(self) -> Iterator[type]:
        return (cls for cls, kind in KINDS.items() if kind is not None)

    def __len__(self) -> int:
        return sum(1 for _ in self)


_registry = _Registry()
