"""`Size` and `device`: small values that tensors hand out."""

from __future__ import annotations

import math
from typing import Any


class Size(tuple):  # type: ignore[type-arg]
    """A shape.

    >>> Size([2, 3]), Size([2, 3]).numel()
    (torch.Size([2, 3]), 6)
    """

    __slots__ = ()

    def numel(self) -> int:
        return math.prod(self)

    def __getitem__(self, index: Any) -> Any:
        found = super().__getitem__(index)
        return Size(found) if isinstance(index, slice) else found

    def __add__(self, other: Any) -> Size:
        return Size(super().__add__(tuple(other)))

    def __repr__(self) -> str:
        return f"torch.Size({list(self)})"


class device:
    """Where a tensor's numbers are: ``"cpu"``, or ``"cuda:0"`` with CuPy.

    >>> device("cpu"), device("cuda", 1) == device("cuda:1")
    (device(type='cpu'), True)
    """

    __slots__ = ("index", "type")

    def __init__(self, type: Any, index: int | None = None) -> None:
        if isinstance(type, device):
            type, index = type.type, type.index
        if isinstance(type, int):
            type, index = "cuda", type
        name, colon, number = str(type).partition(":")
        if name not in ("cpu", "cuda", "meta"):
            raise RuntimeError(
                f"Expected one of cpu, cuda, meta device type at start of device string: {name}"
            )
        if colon:
            if index is not None:
                raise RuntimeError(f"type (string) must not include an index because index was "
                                   f"passed explicitly: {type}")
            index = int(number)
        self.type = name
        self.index = index

    def __eq__(self, other: object) -> bool:
        return isinstance(other, device) and (self.type, self.index) == (other.type, other.index)

    def __hash__(self) -> int:
        return hash((self.type, self.index))

    def __repr__(self) -> str:
        index = "" if self.index is None else f", index={self.index}"
        return f"device(type='{self.type}'{index})"

    def __str__(self) -> str:
        return self.type if self.index is None else f"{self.type}:{self.index}"

    def __reduce__(self) -> Any:
        return device, (self.type, self.index)


cpu = device("cpu")
