"""Which classes are nodes of trees, as flax asks."""

from ...treedef import KINDS as _registry

__all__ = ["_registry"]
