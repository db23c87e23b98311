"""Key paths: the steps from a tree to one of its leaves.

Layer 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Key:
    """One step of a key path. The classes below have the names of JAX's."""

    key: Any

    def __str__(self) -> str:
        return f"[{self.key!r}]"


class DictKey(Key):
    """The step to ``tree[key]``."""

    __slots__ = ()


class SequenceKey(Key):
    """The step to ``tree[idx]``."""

    __slots__ = ()

    def __init__(self, idx: int) -> None:
        Key.__init__(self, idx)

    @property
    def idx(self) -> int:
        return self.key

    def __repr__(self) -> str:
        return f"SequenceKey(idx={self.key!r})"


class GetAttrKey(Key):
    """The step to ``tree.name``."""

    __slots__ = ()

    def __init__(self, name: str) -> None:
        Key.__init__(self, name)

    @property
    def name(self) -> str:
        return self.key

    def __str__(self) -> str:
        return f".{self.key}"

    def __repr__(self) -> str:
        return f"GetAttrKey(name={self.key!r})"


class FlattenedIndexKey(Key):
    """The step to a child, by its number, of a node that does not name its children."""

    __slots__ = ()

    def __str__(self) -> str:
        return f"[<flat index {self.key}>]"


KeyPath = tuple[Key, ...]


def key_str(keys: KeyPath, *, simple: bool = False, separator: str = "") -> str:
    """Print a key path as the Python that leads from the tree to the leaf.

    `simple`: keys, numbers and names without brackets and dots; `separator` stands between steps.

    >>> path = (DictKey("w"), SequenceKey(0), GetAttrKey("bias"))
    >>> key_str(path), key_str(path, simple=True, separator="/")
    ("['w'][0].bias", 'w/0/bias')
    """
    return separator.join(str(k.key if simple and isinstance(k, Key) else k) for k in keys)
