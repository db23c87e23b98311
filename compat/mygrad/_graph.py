"""The graph of MyGrad's tensors: the step that made each, what shows its memory, and the way back.

A tensor here is a name for a tensor of `compat`, which a write replaces: what was computed before goes
on with the old one. A step knows what it read by those, and its result weakly, so that a result that
nobody holds gets no gradient of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import ref

import numpy as np

from funcgrad.locks import hold_all, release, repeats

from ..autograd.base import TensorBase, tensor
from ..autograd.node import AccumulateGrad
from ..autograd.tape import tape_array, unwrapped
from ._memory import state

ndarray = np.ndarray
Options = dict[str, Any]
NONE: Options = {}

_F64 = np.dtype("float64")
_F32 = np.dtype("float32")
_new = object.__new__


class TensorCore:
    """What the graph knows of a tensor; `tensor_base.Tensor` adds everything that users see.

    `_t`: the tensor of `compat`, with the gradient. `_creator`: the step that made it. `_base` and
    `_chain`: whose memory it shows, and through which functions. `_views`: what shows its own.
    `_operations`: the users' operations that keep it among their variables.
    """

    __slots__ = (
        "__weakref__",
        "_base",
        "_chain",
        "_constant",
        "_creator",
        "_operations",
        "_t",
        "_view_grad",
        "_views",
    )
    _t: Any
    _creator: Step | None
    _constant: bool
    _base: TensorCore | None
    _chain: tuple[Any, ...]
    _views: list[ref[TensorCore]] | None
    _view_grad: ndarray | None
    _operations: list[ref[Any]] | None


class _Made:
    """Which class results are of; set by the module that defines it."""

    cls: type[TensorCore] = TensorCore


made = _Made()


def husk(t: Any, constant: bool, creator: Any = None) -> Any:
    """A new tensor around one of `compat`."""
    out = _new(made.cls)
    out._t = t
    out._constant = constant
    out._creator = creator
    out._base = out._views = out._view_grad = out._operations = None
    out._chain = ()
    return out


class Step:
    """One operation of a graph: what it read (`inputs`), and the steps or leaves these are of.

    `sources` is None once the graph has been cleared.
    """

    __slots__ = ("__weakref__", "husk", "inputs", "locks", "sources")
    husk: Any
    inputs: Sequence[Any]
    sources: Sequence[Any] | None
    locks: Sequence[Any]

    def __new__(cls, *_: Any, **__: Any) -> Any:
        made_step = _new(cls)
        made_step.locks = made_step.inputs = made_step.sources = ()
        return made_step

    def __del__(self) -> None:
        if self.locks:
            release(self.locks)


class Recorded(Step):
    """The step of a function of this package; `function` is given by a subclass for each."""

    __slots__ = ()
    function: Any

    @property
    def variables(self) -> tuple[Any, ...]:
        """The tensors that were read."""
        return tuple(map(_husk_of, self.inputs, self.sources or ()))

    def __repr__(self) -> str:
        return f"<mygrad.{type(self).__name__} at {id(self):#x}>"


def _husk_of(x: Any, source: Any) -> Any:
    """The tensor that stands for an input; a new one where the user has none, or wrote into it."""
    if not isinstance(x, TensorBase):
        return husk(tensor(np.asarray(x)), True)
    if isinstance(source, TensorCore):
        return source if source._t is x else husk(x, x._node is None)
    found = None if source is None else source.husk()
    if found is not None and found._t is x:
        return found
    out = husk(x, x._node is None, source)
    if source is not None and found is None:
        source.husk = ref(out)
    return out


# ---------------------------------------------------------------- running functions


def checked(array: Any) -> Any:
    """The array, if it may be in a tensor.

    Raises: TypeError: its dtype is neither floating, integer nor boolean.
    """
    if array.dtype.kind not in "fiub" and state.tracks:
        raise TypeError(
            f"a tensor holds floating numbers, integers or truth values; found {array.dtype}"
        )
    return array


def root(t: Any) -> None:
    """Let gradients by a tensor of `compat` be kept."""
    t._node = AccumulateGrad(t)


def gather(
    operands: Sequence[Any], keeps_grads: bool, takes_numbers: bool = False
) -> tuple[list[Any], list[Any], bool, Any]:
    """What a step reads, the sources of that, whether one is no constant, and the dtype of all.

    The gradients of the operands go, as they take part in something new, unless it may be a view.
    The dtype is False where there are several; numbers of Python are kept among float64 only.
    """
    inputs: list[Any] = []
    sources: list[Any] = []
    live = numbers = False
    dtype: Any = None
    cls = made.cls
    for a in operands:
        if a.__class__ is cls or isinstance(a, TensorCore):
            t = a._t
            source: Any = a._creator
            if source is None:
                source = a
                if a._base is not None:
                    disconnect(a)
            if not a._constant:
                live = True
                if t._node is None:
                    root(t)
            if not keeps_grads:
                if t._grad is not None:
                    t._grad = None
                if a._view_grad is not None:
                    a._view_grad = None
        elif a.__class__ is float or a.__class__ is int:
            numbers = True
            inputs.append(a)
            sources.append(None)
            continue
        else:
            t = tensor(checked(np.asarray(a)))
            source = None
        inputs.append(t)
        sources.append(source)
        found = t._array.dtype
        if found is not dtype:
            dtype = found if dtype is None else False
    if numbers and not (takes_numbers and dtype is _F64):
        if dtype is not _F64:
            dtype = False
        inputs = [
            x if isinstance(x, TensorBase) else tensor(checked(np.asarray(x))) for x in inputs
        ]
        if dtype is _F64 and any(x._array.dtype is not _F64 for x in inputs):
            dtype = False
    return inputs, sources, live, dtype


def disconnect(a: TensorCore) -> None:
    """Forget whose memory `a` shows, after its graph was cleared."""
    a._base = None
    a._chain = ()


def traced(
    f: Any, inputs: Sequence[Any], args: Sequence[Any], options: Options, is_view: bool = False
) -> Any:
    """A function of arrays on tensors of `compat`, recorded by these."""
    faces = [tape_array(x) if isinstance(x, TensorBase) else np.asarray(x) for x in inputs]
    found = unwrapped(f(*faces, *args, **options))
    if not isinstance(found, TensorBase):
        return tensor(np.asarray(found))
    return apart(found, inputs, is_view)


def apart(t: Any, inputs: Sequence[Any], is_view: bool) -> Any:
    """The tensor, or one like it if it is an input itself: a view or a copy of that."""
    if any(t is x for x in inputs):
        return unwrapped(tape_array(t)[...]) if is_view else t.clone()
    return t


def arrays_of(inputs: Sequence[Any]) -> list[Any]:
    return [x._array if isinstance(x, TensorBase) else np.asarray(x) for x in inputs]


def apply(
    f: Any,
    operands: Sequence[Any],
    args: Sequence[Any] = (),
    options: Options = NONE,
    constant: bool | None = None,
) -> Any:
    """``f(*operands, *args, **options)`` as a tensor with a step.

    Raises: TypeError, ValueError: `constant` is no bool, or False for integers.
    """
    if not state.tracks:
        arrays = [array_of(a) for a in operands]
        return plain(np.asarray(f.arrays(*arrays, *args, **options)), constant)
    inputs, sources, live, dtype = gather(operands, f.views, f.numbers)
    if not live:
        t = tensor(np.asarray(f.arrays(*arrays_of(inputs), *args, **options)))
    elif (dtype is _F64 or dtype is _F32) and not options and f.fast is not None:
        try:
            t = f.fast(*inputs, *args)
        except (IndexError, RuntimeError):  # in PyTorch's words; here NumPy's are expected
            t = traced(f.traced, inputs, args, options, f.views)
        if t is inputs[0]:
            t = apart(t, inputs, f.views)
        if constant is None and not f.views:  # as `finish` does, with nothing to ask
            step = _new(f.step)
            step.locks = ()
            step.inputs = inputs
            step.sources = sources
            out = _new(made.cls)
            out._t = t
            out._constant = False
            out._creator = step
            out._base = out._views = out._view_grad = out._operations = None
            out._chain = ()
            step.husk = ref(out)
            if state.guards:
                step.locks = guard(inputs, sources, t._array)
            return out
    else:
        t = traced(f.traced, inputs, args, options, f.views)
    return finish(f, _new(f.step), operands, inputs, sources, live, t, args, options, constant)


class _NoViews:
    """What `finish` asks of a function whose results are never views."""

    __slots__ = ()
    views = False


NO_VIEWS: Any = _NoViews()


def finish(
    f: Any,
    step: Step,
    operands: Sequence[Any],
    inputs: Sequence[Any],
    sources: Sequence[Any],
    live: bool,
    t: Any,
    args: Sequence[Any],
    options: Options,
    constant: bool | None,
) -> Any:
    """The tensor around a result, with its step, its base if it is a view, and the guard."""
    step.locks = ()
    array = t._array
    constant = resolved(constant, array, not live)
    base = None
    if f.views:
        owner = array.base
        for a in operands:
            if isinstance(a, TensorCore):
                whole = a._t._array
                if array is whole or (
                    owner is not None and (owner is whole or owner is whole.base)
                ):
                    base = a
                    break
        if base is not None and f.copies_numbers and f.copies_numbers(array, *args):
            t._array = array = array.copy()
            base = None
        if base is None:
            for a in operands:
                if isinstance(a, TensorCore):
                    null(a)
        elif (
            not array.flags.writeable
            and base._t._array.flags.writeable
            and not repeats(array)  # but a diagonal, which NumPy makes read-only
        ):
            array.flags.writeable = True
        t._view = None  # every write is made by `write`
    if constant and t._node is not None:
        t = tensor(array)
    step.inputs = inputs
    step.sources = sources
    out = _new(made.cls)
    out._t = t
    out._constant = constant
    out._creator = step
    out._views = out._view_grad = out._operations = None
    if base is None:
        out._base = None
        out._chain = ()
    else:
        link(out, base, (f, args, options))
    step.husk = ref(out)
    if state.guards:
        step.locks = guard(inputs, sources, array)
    return out


def guard(inputs: Sequence[Any], sources: Sequence[Any], result: Any) -> Any:
    """The locks on what a step reads and made; what other steps made is locked by those."""
    used = [result]
    for x, source in zip(inputs, sources):  # noqa: B905 (faster without)
        if not isinstance(source, Step) and isinstance(x, TensorBase):
            used.append(x._array)
    return hold_all(used)


def resolved(constant: bool | None, array: Any, otherwise: bool) -> bool:
    """Whether a tensor of an array is a constant.

    Raises: TypeError, ValueError: `constant` is no bool, or False for integers.
    """
    if constant is not None and not isinstance(constant, bool):
        raise TypeError(f"constant={constant!r}: need True, False or None")
    if array.dtype.kind == "f":
        return otherwise if constant is None else constant
    checked(array)
    if constant is False and state.tracks:
        raise ValueError(f"constant=False: tensors of {array.dtype} have no gradient; need floats")
    return True if constant is None else constant


def plain(array: Any, constant: bool | None = None) -> Any:
    """A tensor of an array, without a step."""
    return husk(tensor(array), resolved(constant, array, False))


def array_of(a: Any) -> Any:
    """The array of a tensor or of what becomes one."""
    return a._t._array if isinstance(a, TensorCore) else np.asarray(a)


def link(view: TensorCore, parent: TensorCore, last: Any) -> None:
    """Note that `view` shows the memory of `parent` through the function `last`."""
    base = parent if parent._base is None else parent._base
    view._base = base
    view._chain = (*parent._chain, last)
    if base._views is None:
        base._views = []
    base._views.append(ref(view))


def null(a: TensorCore) -> None:
    """Take the gradient away."""
    if a._t._grad is not None:
        a._t._grad = None
    a._view_grad = None


def short(array: Any) -> str:
    """What an array is, for a message."""
    return f"a tensor of shape {array.shape}"
