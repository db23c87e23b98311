"""`torch.jit.annotations`: the names of types that scripted code imports from here."""

from typing import Any, Dict, List, Optional, Tuple, Union  # noqa: UP035

# A list of so many numbers, or one number for all of them.
BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list

__all__ = [
    "Any",
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Dict",
    "List",
    "Optional",
    "Tuple",
    "Union",
]
