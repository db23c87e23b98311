"""The nodes of printed functions: what they save, laid out for speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from funcgrad.core import Aval

from .node import NOTHING, Freed, OpNode, Saved, second_backward


class UnaryNode(OpNode):
    """A node with one tensor operand, number `at`; the other operand, if any, is `number`.

    `saved` is the array of the operand or the result, with its counter and version, or `NOTHING`.
    """

    __slots__ = ("counter", "number", "only", "version")
    params: dict[str, Any] = {}  # noqa: RUF012 (nobody writes into it)
    only: Any
    number: Any
    counter: Any
    version: int
    reads_ans = False
    at = 0
    count = 1

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        saved = self.saved
        if saved.__class__ is Freed:
            raise second_backward(self)
        array = getattr(ct, "_array", ct) if saved is NOTHING else saved
        ans: Any = Aval(array.shape, array.dtype)
        x: Any = ans
        if saved is not NOTHING:
            found = Saved(saved, self.counter, self.version, self.reads_ans)
            ans, x = (found, x) if self.reads_ans else (ans, found)
        if self.count == 1:
            return ans, [x]
        return ans, [x, self.number] if self.at == 0 else [self.number, x]

    @property
    def next(self) -> tuple[Any, ...]:  # type: ignore[override]
        if self.count == 1:
            return (self.only,)
        return (self.only, None) if self.at == 0 else (None, self.only)

    def keep_written(self, array: Any, counter: list[Any]) -> None:
        if self.reads_ans:
            self.saved, self.counter, self.version = array, counter, counter[0]

    def keep_copies(self, counter: list[Any]) -> None:
        if self.saved is not NOTHING and not self.reads_ans and self.counter is counter:
            self.saved, self.counter, self.version = self.saved.copy(), [0], 0


class BinaryNode(OpNode):
    """A node with two tensor operands.

    `saved` holds an array (None if not needed), its counter and its version for each of `reads`, in
    the order z (the result), x, y. `shapes` are those of the operands if they were broadcast.
    """

    __slots__ = ("shapes",)
    params: dict[str, Any] = {}  # noqa: RUF012 (nobody writes into it)
    shapes: Any
    reads = ""

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        saved = self.saved
        if saved.__class__ is Freed:
            raise second_backward(self)
        found: dict[str, Any] = {}
        dtype: Any = None
        shape: Any = None
        if ct is not None:
            array = getattr(ct, "_array", ct)
            dtype, shape = array.dtype, array.shape
        for i, name in enumerate("" if saved is NOTHING else self.reads):
            array, counter, version = saved[3 * i : 3 * i + 3]
            if array is not None:
                found[name] = Saved(array, counter, version, name == "z")
                dtype = array.dtype
        shape_x, shape_y = self.shapes or (shape, shape)
        return found.get("z") or Aval(shape, dtype), [
            found.get("x") or Aval(shape_x, dtype),
            found.get("y") or Aval(shape_y, dtype),
        ]

    def keep_written(self, array: Any, counter: list[Any]) -> None:
        if "z" in self.reads and self.saved[0] is not None:
            self.saved = (array, counter, counter[0], *self.saved[3:])

    def keep_copies(self, counter: list[Any]) -> None:
        if self.saved is NOTHING:
            return
        saved = list(self.saved)
        for i, name in enumerate(self.reads):
            if name != "z" and saved[3 * i] is not None and saved[3 * i + 1] is counter:
                saved[3 * i : 3 * i + 3] = saved[3 * i].copy(), [0], 0
        self.saved = tuple(saved)


class TotalNode(OpNode):
    """A node of a linear reduction of all axes, which saves nothing but a type."""

    __slots__ = ("dtype", "only", "shape")
    only: Any
    dtype: Any
    shape: Any
    rule: Any = None

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        return Aval((), self.dtype), [Aval(self.shape, self.dtype)]

    @property
    def next(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self.only,)

    @property
    def params(self) -> dict[str, Any]:  # type: ignore[override]
        return {"axis": tuple(range(len(self.shape)))}

    def pull(self, ct: Any) -> None:
        r = self.rule(ct, Aval(self.shape, self.dtype), **self.params)
        e = self.only
        old = e.ct
        e.ct = r if old is None else old + r
