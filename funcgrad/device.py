"""Waiting for devices, which compute while Python goes on.

Layer 1.
"""

from __future__ import annotations

from typing import Any

from . import tree
from .backend import NAMESPACES


def block_until_ready(x: Any) -> Any:
    """The tree `x`, once the arrays in it that are on a device have been computed.

    NumPy has always computed what it returns. To be called where time is measured.

    >>> block_until_ready({"w": 1.0})
    {'w': 1.0}
    """
    for leaf in tree.leaves(x):
        module = NAMESPACES.get(leaf.__class__)
        if module is not None and module.__name__ == "cupy":
            leaf.device.synchronize()
    return x
