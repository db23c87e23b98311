"""`SparseTensor`: some elements of an array by their places; all others are zero.

NOTE [Sparse tensors] The places are an array of integers that nobody else has. The elements are an
ordinary tensor, the *entries*: all derivatives are those of what is done with it (picking, adding into
places, products), so there is no rule for sparse tensors anywhere. In place of an array such a tensor
has a `Layout`, which knows the shape and the dtype; whatever asks it for numbers is refused.
"""

from __future__ import annotations

import math
import sys
from typing import Any, NoReturn

import numpy as np

from funcgrad.indexing import known

from .. import dtypes, size
from .._tensor import Tensor
from ..autograd import base, sites, views
from ..autograd.node import Port
from ..ops.slices import index_add, index_select
from ..printing import joined, text_of

# What frames are called that say nothing, or another name than users know.
_CALLED = {
    "at": "matmul",
    "reflected_at": "matmul",
    "functional_softmax": "softmax",
    "_over": "div",
}
_INNER = {"<lambda>", "<genexpr>", "<listcomp>", "apply", "compare", "choose", "hooked", "method"}
_INNER |= {"named", "wrapped", "wrapper", "deferred", "_refused"}


def refusal(what: str | None = None) -> NotImplementedError:
    """The error for an operation, by default the one that the user's code has called."""
    if what is None:
        frame: Any = sys._getframe(1)
        what = "this"
        while frame is not None and frame.f_code.co_filename in sites.OWN:
            name = frame.f_code.co_name
            if name == "in_place":
                name = frame.f_locals["name"]
            elif name == "__new__":
                name = frame.f_code.co_qualname.split(".")[0]
            if name not in _INNER:
                what = _CALLED.get(name, name)
            frame = frame.f_back
        what = f"{what}()"
    return NotImplementedError(
        f"{what} is not offered for sparse tensors here; use x.to_dense(), whose gradient goes to the "
        f"values of x"
    )


class Layout:
    """What a sparse tensor has for an array: its shape and dtype, and errors for all else."""

    __slots__ = ("dtype", "shape")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = shape
        self.dtype = dtype

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # protocols that are asked for
            raise AttributeError(name)
        raise refusal()

    @classmethod
    def __process_primitive__(cls, prim: Any, args: Any, params: Any) -> NoReturn:
        raise refusal()


def _refused(self: Any, *args: Any, **kwargs: Any) -> NoReturn:
    raise refusal()


for _name in (
    *("array", "array_ufunc", "array_function", "getitem", "setitem", "iter", "len", "bool"),
    *("float", "int", "index", "complex", "invert", "neg", "pos", "abs"),
    *(
        f"{side}{name}"
        for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
        for side in ("", "r")
    ),
    *("lt", "le", "gt", "ge", "eq", "ne", "and", "or", "xor"),
):
    setattr(Layout, f"__{_name}__", _refused)


def _shown(array: Any, indent: int) -> str:
    """An array as PyTorch prints it inside of a sparse tensor; None: a transform has the numbers."""
    if array is None:
        return "..."
    suffix = "" if array.size else f", size={tuple(array.shape)}"
    return f"tensor({text_of(array, indent)}{suffix})"


def rows_of(places: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The places as numbers: their order in C order."""
    found = np.zeros(places.shape[1], np.int64)
    for row, length in zip(places, shape, strict=True):
        found = found * length + row
    return found


class SparseTensor(Tensor):
    """A tensor in coordinate form; made by `torch.sparse_coo_tensor` and `Tensor.to_sparse`.

    >>> import compat as torch
    >>> x = torch.sparse_coo_tensor([[0, 1], [2, 0]], [3.0, 4.0], (2, 3))
    >>> x.to_dense()
    tensor([[0., 0., 3.],
            [4., 0., 0.]])
    """

    __slots__ = ()
    __hash__ = object.__hash__
    layout = size.sparse_coo
    is_sparse = True

    # Where the base class keeps an array and an edge into the graph, there are none: see the note.
    _array = property(lambda self: self.__dict__["_layout"], _refused)
    _node = property(_refused, _refused)
    _grad = property(_refused, _refused)  # optimizers look there
    __traced__ = property(_refused)
    __dlpack__ = __dlpack_device__ = _refused

    _places: np.ndarray
    _entries: Tensor
    _coalesced: bool
    _is_own_leaf: bool  # whether the entries are a leaf that nobody else has

    # ------------------------------------------------------------ what is in it

    def sparse_dim(self) -> int:
        """How many of the first axes are sparse."""
        return len(self._places)

    def dense_dim(self) -> int:
        """How many axes every entry has."""
        return self._entries.ndim - 1

    def is_coalesced(self) -> bool:
        """Whether every place is there once, in order."""
        return self._coalesced

    def _nnz(self) -> int:
        return self._places.shape[1]

    def _indices(self) -> Any:
        return base.tensor(self._places.copy())  # graphs know ours, and do not see writes

    def _values(self, doing: str = "") -> Any:
        """The entries, detached.

        Raises: NotImplementedError: the array of numbers is asked for, not the entries.
        """
        if doing:
            raise refusal()
        return self._entries.detach()

    def indices(self) -> Any:
        """The places, one row for each sparse axis.

        Raises: RuntimeError: the tensor is not coalesced.
        """
        self._require_coalesced("indices")
        return self._indices()

    def values(self) -> Any:
        """The entries, in the order of the places; gradients flow through.

        Raises: RuntimeError: the tensor is not coalesced.
        """
        self._require_coalesced("values")
        entries: Any = self._entries
        return entries.view_as(entries)

    def _require_coalesced(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(
                f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
            )

    def coalesce(self) -> Any:
        """The same tensor with every place once, in order: values for one place are added."""
        if self._coalesced:
            return self
        shape = tuple(self._array.shape)
        rows = rows_of(self._places, shape[: self.sparse_dim()])
        places, first, group = np.unique(rows, return_index=True, return_inverse=True)
        entries: Any = self._entries
        if len(places) == len(rows):
            entries = index_select(entries, 0, base.tensor(first))
        else:
            entries = added(entries, group, len(places))
        return sparse(self._places[:, first], entries, shape, coalesced=True)

    def to_dense(self, dtype: Any = None, *, masked_grad: bool | None = None) -> Any:
        """The tensor with its zeros."""
        shape = tuple(self._array.shape)
        n = self.sparse_dim()
        found = added(self._entries, rows_of(self._places, shape[:n]), math.prod(shape[:n]))
        found = found.reshape(shape)
        return found if dtype is None else found.to(dtype)

    def to_sparse(self, sparse_dim: int | None = None, *, layout: Any = None) -> Any:
        """The tensor coalesced; with other sparse axes by way of the dense one is not offered."""
        if layout not in (None, size.sparse_coo) or sparse_dim not in (None, self.sparse_dim()):
            raise refusal("to_sparse() of other axes or another layout")
        return self.coalesce()

    # ------------------------------------------------------------ autograd

    @property
    def requires_grad(self) -> bool:
        return self._entries.requires_grad

    @requires_grad.setter
    def requires_grad(self, value: bool) -> None:
        self.requires_grad_(value)

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Say whether gradients by this tensor are wanted; it must be a leaf.

        Raises: RuntimeError: it is not a leaf, or of no floating or complex dtype.
        """
        if requires_grad is True and not self.requires_grad:
            self._entries = self._entries.detach().requires_grad_()
            self._is_own_leaf = True
        elif requires_grad is False and self._is_own_leaf:
            self._entries = self._entries.detach()
            self._is_own_leaf = False
        else:
            self._entries.requires_grad_(requires_grad)
        return self

    @property
    def is_leaf(self) -> bool:
        return self._is_own_leaf or not self.requires_grad

    @property
    def grad_fn(self) -> Any:
        node = None if self.is_leaf else views.edge(self._entries)
        return node.node if node.__class__ is Port else node

    @property
    def grad(self) -> Any:
        """The gradient of a leaf: at its places; see the table in `compat/README.md`."""
        found = self._entries.grad if self._is_own_leaf else None
        if found is None:
            return None
        shape = tuple(self._array.shape)
        rows = rows_of(self._places, shape[: self.sparse_dim()])
        first = np.unique(rows, return_index=True)[1]  # values for one place have one gradient
        entries = index_select(found, 0, base.tensor(first))
        return sparse(self._places[:, first], entries, shape, coalesced=True)

    @grad.setter
    def grad(self, value: Any) -> None:
        if value is not None:
            raise refusal("an assignment to .grad")
        if self._is_own_leaf:
            self._entries.grad = None

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    def detach(self) -> Any:
        """The same numbers in the same memory, cut off from the graph."""
        entries = self._entries.detach()
        return sparse(self._places, entries, self._array.shape, coalesced=self._coalesced)

    @property
    def data(self) -> Any:
        return self.detach()

    @data.setter
    def data(self, value: Any) -> None:
        raise refusal("an assignment to .data")

    # ------------------------------------------------------------ the same in another form

    @property
    def device(self) -> Any:
        return self._entries.device

    def with_entries(self, entries: Any) -> Any:
        """Other entries at the same places."""
        return sparse(self._places, entries, self._array.shape, coalesced=self._coalesced)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """The tensor in another dtype, as `Tensor.to`; itself if it is so."""
        if args and isinstance(args[0], SparseTensor):
            args = (args[0]._entries, *args[1:])
        entries = self._entries.to(*args, **kwargs)
        return self if entries is self._entries else self.with_entries(entries)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """The tensor in another dtype, or the name of its class."""
        found = self._entries.type(dtype)
        if dtype is None:
            return found.replace("torch.", "torch.sparse.", 1)
        return self if found is self._entries else self.with_entries(found)

    def cpu(self, *, memory_format: Any = None) -> Any:
        """The tensor in the memory of the CPU, where it is."""
        return self

    def cuda(self, *args: Any, **kwargs: Any) -> Any:
        """The tensor on a GPU: sparse tensors are offered on the CPU only."""
        return self.with_entries(self._entries.cuda(*args, **kwargs))

    def clone(self, *, memory_format: Any = None) -> Any:
        """A copy."""
        return self.with_entries(self._entries.clone())

    def numpy(self, *, force: bool = False) -> Any:
        """There is no such array.

        Raises: TypeError: always, as in PyTorch.
        """
        raise TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")

    def is_contiguous(self, *args: Any, **kwargs: Any) -> bool:
        return False

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        shown = [("indices", self._places), ("values", known(self._entries._array))]
        parts = [f"{label}={_shown(array, len(label) + 15)}" for label, array in shown]
        default = dtypes.get_default_dtype()
        plain = (default, default.to_complex(), dtypes.int64, dtypes.bool)
        suffixes = [
            f"size={tuple(self._array.shape)}",
            f"nnz={self._nnz()}",
            *([] if self.dtype in plain else [f"dtype={self.dtype}"]),
            "layout=torch.sparse_coo",
        ]
        if self._is_own_leaf:
            suffixes.append("requires_grad=True")
        elif self.requires_grad:
            suffixes.append(f"grad_fn=<{self.grad_fn.name()}>")
        text = f"tensor({parts[0]},\n       {parts[1]}"
        return joined(f"{text},\n       {suffixes[0]}", suffixes[1:], 7)

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise refusal("pickling")

    def __deepcopy__(self, memo: Any) -> Any:
        if not self.is_leaf:
            raise RuntimeError(
                "Only Tensors created explicitly by the user (graph leaves) support the deepcopy "
                "protocol at the moment. Detach it first."
            )
        out = self.detach().clone().requires_grad_(self.requires_grad)
        memo[id(self)] = out
        return out


def sparse(places: np.ndarray, entries: Any, shape: Any, *, coalesced: bool) -> Any:
    """A sparse tensor of places and entries that fit; neither is copied.

    Raises: NotImplementedError: the entries are on a GPU.
    """
    if entries.device.type != "cpu":
        raise NotImplementedError(f"sparse tensors on {entries.device} are not offered here")
    out: Any = base.TensorBase.__new__(SparseTensor)
    out.__dict__["_layout"] = Layout(tuple(shape), entries._array.dtype)
    out._view = None
    out._counter = entries._counter
    out._places = places
    out._entries = entries
    out._coalesced = coalesced
    out._is_own_leaf = False
    base.sparse_kinds.add(SparseTensor)
    return out


def added(entries: Any, rows: np.ndarray, length: int) -> Any:
    """A tensor of `length` rows, into which the entries are added."""
    zeros = base.tensor(np.zeros((length, *entries._array.shape[1:]), entries._array.dtype))
    return index_add(zeros, 0, base.tensor(rows), entries)
