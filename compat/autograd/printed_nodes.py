"""The nodes of printed functions: what they save, laid out for speed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from funcgrad.core import Aval
from funcgrad.transforms.vjp import vjp

from .base import TensorBase
from .errors import second_backward
from .node import NOTHING, Freed, OpNode, Saved, tensor_behind


class UnaryNode(OpNode):
    """A node with one tensor operand, number `at`; the other operand, if any, is `number`.

    `saved` is the array of the operand or the result, with its counter and version, or `NOTHING`.
    """

    __slots__ = ("counter", "left", "number", "version")
    params: dict[str, Any] = {}  # noqa: RUF012 (nobody writes into it)
    left: Any
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
        ans: Any = None if array is None else Aval(array.shape, array.dtype)
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
            return (self.left,)
        return (self.left, None) if self.at == 0 else (None, self.left)

    def keep_written(self, array: Any, counter: list[Any]) -> None:
        if self.reads_ans:
            self.saved, self.counter, self.version = array, counter, counter[0]

    def keep_copies(self, counter: list[Any]) -> None:
        if self.saved is not NOTHING and not self.reads_ans and self.counter is counter:
            self.saved, self.counter, self.version = self.saved.copy(), [0], 0


class BinaryNode(OpNode):
    """A node with two tensor operands.

    What it saves has names: of z (the result), x and y those in `reads`, an array (None if it is not
    needed) with its counter and version. `saved` is None then, and everything is `Freed` later on.
    `shapes` are those of the operands if they were broadcast.
    """

    __slots__ = (
        *("left", "right", "shapes"),
        *("x", "x_counter", "x_version"),
        *("y", "y_counter", "y_version"),
        *("z", "z_counter", "z_version"),
    )
    params: dict[str, Any] = {}  # noqa: RUF012 (nobody writes into it)
    left: Any
    right: Any
    shapes: Any
    z: Any
    z_counter: Any
    z_version: int
    reads = ""

    @property
    def next(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self.left, self.right)

    def free(self, freed: Freed) -> None:
        for name in self.reads:
            setattr(self, name, freed)
        if self.reads:
            self.saved = freed

    def _value(self, name: str) -> tuple[Any, list[Any], int]:
        return (
            getattr(self, name),
            getattr(self, f"{name}_counter"),
            getattr(self, f"{name}_version"),
        )

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        if self.saved.__class__ is Freed:
            raise second_backward(self)
        found: dict[str, Any] = {}
        dtype: Any = None
        shape: Any = None
        if ct is not None:
            array = getattr(ct, "_array", ct)
            dtype, shape = array.dtype, array.shape
        for name in self.reads:
            array, counter, version = self._value(name)
            if array is not None:
                found[name] = Saved(array, counter, version, name == "z")
                dtype = array.dtype
        shape_x, shape_y = self.shapes or (shape, shape)
        return found.get("z") or Aval(shape, dtype), [
            found.get("x") or Aval(shape_x, dtype),
            found.get("y") or Aval(shape_y, dtype),
        ]

    def keep_written(self, array: Any, counter: list[Any]) -> None:
        if "z" in self.reads and self.z is not None:
            self.z, self.z_counter, self.z_version = array, counter, counter[0]

    def keep_copies(self, counter: list[Any]) -> None:
        for name in self.reads:
            array, owner, _ = self._value(name)
            if name != "z" and array is not None and owner is counter:
                setattr(self, name, array.copy())
                setattr(self, f"{name}_counter", [0])
                setattr(self, f"{name}_version", 0)


class CompositeNode(OpNode):
    """A node of a function `f` of arrays, with operands called as in `operands`.

    It saves those in `reads`, each an array (None if it is not needed) with its counter and version.
    `saved` is None then, and everything is `Freed` later on.
    """

    __slots__ = (
        *("length", "shapes"),
        *("h", "h_counter", "h_version"),
        *("u", "u_counter", "u_version"),
        *("w", "w_counter", "w_version"),
        *("x", "x_counter", "x_version"),
        *("y", "y_counter", "y_version"),
    )
    params: dict[str, Any] = {}  # noqa: RUF012 (nobody writes into it)
    shapes: Any
    operands: tuple[str, ...]
    reads: Sequence[str]
    f: Any

    def free(self, freed: Freed) -> None:
        for name in self.reads:
            setattr(self, name, freed)
        self.saved = freed

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        if self.saved.__class__ is Freed:
            raise second_backward(self)
        dtype: Any = None if ct is None else getattr(ct, "_array", ct).dtype
        xs: list[Any] = []
        for name, shape in zip(self.operands, self.shapes, strict=True):
            array = getattr(self, name) if name in self.reads else None
            if array is None:
                xs.append(Aval(shape, dtype))
            else:
                counter = getattr(self, f"{name}_counter")
                xs.append(Saved(array, counter, getattr(self, f"{name}_version"), False))
        return None, xs

    def pull_list(self, ct: Any, face: Any) -> Sequence[Any]:
        _, xs = self.entries(ct)
        bare = not isinstance(ct, TensorBase)
        values: list[Any] = []
        for x, e in zip(xs, self.next, strict=True):
            if x.__class__ is Aval:  # not read
                values.append(np.zeros(x.shape, x.dtype))
            else:
                values.append(x.value(self) if face is None else face(x.unpack(self, e)))
        wanted = [i for i, e in enumerate(self.next) if e is not None]

        def of_wanted(*given: Any) -> Any:
            full = list(values)
            for i, x in zip(wanted, given, strict=True):
                full[i] = x
            return self.f(*full)

        _, pull = vjp(of_wanted, *[values[i] for i in wanted])
        found = pull(ct if bare else face(ct))
        cts: list[Any] = [None] * len(values)
        for i, g in zip(wanted, found, strict=True):
            cts[i] = g if bare else tensor_behind(g)
        return cts

    def keep_copies(self, counter: list[Any]) -> None:
        for name in self.reads:
            array = getattr(self, name)
            if array is not None and getattr(self, f"{name}_counter") is counter:
                setattr(self, name, array.copy())
                setattr(self, f"{name}_counter", [0])
                setattr(self, f"{name}_version", 0)


class TotalNode(OpNode):
    """A node of a linear reduction of all axes, which saves nothing but a type."""

    __slots__ = ("dtype", "left", "length", "shape")
    left: Any
    dtype: Any
    shape: Any

    def entries(self, ct: Any) -> tuple[Any, Sequence[Any]]:
        return Aval((), self.dtype), [Aval(self.shape, self.dtype)]

    @property
    def next(self) -> tuple[Any, ...]:  # type: ignore[override]
        return (self.left,)

    @property
    def params(self) -> dict[str, Any]:  # type: ignore[override]
        return {"axis": tuple(range(len(self.shape)))}
