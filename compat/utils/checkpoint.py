"""Checkpointing: keep the inputs of a part of the model, and compute the rest again in backward.

Layer 6. Without reentrance a part is recorded as ever, but what its nodes would save is not kept
(saved-tensor hooks); the first node of the part that backward reaches makes the function run again,
recording, and takes what that run saves at the same position. With reentrance the part is one node of
a `Function` whose backward runs it again and runs backward through that.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any

from funcgrad.core import Aval, Tracer, aval_of

from ..autograd import engine, modes, sites, views
from ..autograd.base import TensorBase
from ..autograd.function import Function
from ..autograd.gradients import backward
from ..autograd.node import save
from ..nn.container import Sequential
from ..random import fork_rng, get_rng_state, set_rng_state


class CheckpointError(RuntimeError):
    """The second run did not save what the first one did."""


def noop_context_fn() -> tuple[Any, Any]:
    """The contexts of the first run and of the second one: nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


_early_stop: ContextVar[bool | None] = ContextVar("early_stop", default=None)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Whether the second runs of parts that are checkpointed inside end once all is there.

    It goes before the argument `early_stop` of `checkpoint`.
    """
    token = _early_stop.set(enable)
    try:
        yield
    finally:
        _early_stop.reset(token)


def get_device_states(*args: Any) -> tuple[list[int], list[Any]]:
    """No devices, and no states of theirs: random numbers are drawn on the CPU."""
    return [], []


def set_device_states(devices: Any, states: Any, *, device_type: Any = None) -> None:
    """Nothing: see `get_device_states`."""


class _State:
    """Where the stream of random numbers was, to draw the same again; None if that is not wanted."""

    __slots__ = ("rng",)

    def __init__(self, preserve: bool) -> None:
        self.rng = get_rng_state() if preserve else None

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        with fork_rng(enabled=self.rng is not None):
            if self.rng is not None:
                set_rng_state(self.rng)
            yield


# ---------------------------------------------------------------- without reentrance


class _Holder:
    """What a node has in place of value number `index` of its part."""

    __slots__ = ("__weakref__", "aval", "index", "part")

    def __init__(self, part: _Part, index: int, aval: Aval) -> None:
        self.part = part
        self.index = index
        self.aval = aval


class _Stop(BaseException):
    """Ends the second run of a part; no `except Exception` of the user's may catch it."""

    def __init__(self, part: _Part) -> None:
        super().__init__()
        self.part = part


class _Values:
    """What a second run has saved, by position, until its node asks for it or the pass ends."""

    __slots__ = ("found",)

    def __init__(self) -> None:
        self.found: dict[int, tuple[TensorBase, int]] = {}

    def end(self) -> None:
        """The pass is over."""
        self.found.clear()


class _Part:
    """One call of a checkpointed function."""

    __slots__ = (
        "args",
        "checks",
        "done",
        "early_stop",
        "fn",
        "holders",
        "kwargs",
        "recompute_context",
        "saved",
        "site",
        "state",
    )

    def __init__(
        self,
        fn: Callable[..., Any],
        args: Sequence[Any],
        kwargs: dict[str, Any],
        *,
        preserve: bool,
        checks: bool,
        early_stop: bool,
        recompute_context: Any,
    ) -> None:
        self.fn = fn
        self.kwargs = kwargs
        self.recompute_context = recompute_context
        self.state = _State(preserve)
        self.checks = checks
        self.early_stop = early_stop
        self.done = False  # whether the first run is over
        self.site = sites.site()
        self.holders: list[weakref.ref[_Holder]] = []
        # The arguments as the hooks outside want them: a checkpoint around this one drops them.
        mode = modes.get()
        self.saved = {
            i: (save(a._array, a._counter, False, mode), views.edge(a))
            for i, a in enumerate(args)
            if isinstance(a, TensorBase)
        }
        self.args = [None if i in self.saved else a for i, a in enumerate(args)]

    def name(self) -> str:
        """What errors about the arguments call it."""
        return "checkpoint"

    # ------------------------------------------------------------ hooks of the first run

    def pack(self, x: TensorBase) -> _Holder:
        holder = _Holder(self, len(self.holders), aval_of(x._array))
        self.holders.append(weakref.ref(holder))
        return holder

    @staticmethod
    def unpack(holder: _Holder) -> Any:
        return holder.part.value(holder)

    def value(self, holder: _Holder) -> TensorBase:
        """Value number `index`, from the second run of this pass.

        Raises: CheckpointError: that has not saved it.
        """
        walk = engine.running()
        if walk is not None:
            values = walk.notes.get(self)
            if values is None:
                values = walk.notes[self] = _Values()
        else:
            values = _Values()
        if holder.index not in values.found:
            self.compute(values)
        found = values.found.pop(holder.index, None)
        if found is None:
            raise self.error(
                f"A different number of tensors was saved during the original forward and "
                f"recomputation: value number {holder.index} was not saved again."
            )
        x, version = found
        if x._counter[0] != version:
            raise RuntimeError(
                "one of the variables needed for gradient computation has been modified by an "
                f"inplace operation while the part checkpointed at {sites.describe(self.site)} ran "
                "again. Use the out-of-place operation there."
            )
        return x

    # ------------------------------------------------------------ the second run

    def compute(self, values: _Values) -> None:
        """Run the function again, and keep what it saves for the nodes that are there still."""
        part: Any = self
        args = list(self.args)
        for i, (kept, edge) in self.saved.items():
            args[i] = kept.unpack(part, edge)
        count = 0

        def pack(x: TensorBase) -> TensorBase:
            nonlocal count
            count += 1
            if count > len(self.holders):
                if self.done and self.checks:
                    raise self.error(
                        "trying to save more tensors during recomputation than during the original "
                        "forward pass."
                    )
                return x
            holder = self.holders[count - 1]()
            if holder is not None:
                if self.checks:
                    self.compare(holder, x)
                values.found[holder.index] = (x, x._counter[0])
            if self.early_stop and count == len(self.holders):
                raise _Stop(self)
            return x

        again = modes.ModeSwitch(records=True, inference=False, pack=(pack, _same))
        try:
            with self.state.again(), self.recompute_context, again:
                self.fn(*args, **self.kwargs)
        except _Stop as stop:
            if stop.part is not self:
                raise
        if self.checks and self.done and count < len(self.holders):
            raise self.error(
                "A different number of tensors was saved during the original forward and "
                f"recomputation.\nNumber of tensors saved during forward: {len(self.holders)}\n"
                f"Number of tensors saved during recomputation: {count}."
            )

    def compare(self, holder: _Holder, x: TensorBase) -> None:
        """Raises: CheckpointError: a value has another shape or dtype than in the first run."""
        old, new = holder.aval, aval_of(x._array)
        if old.shape != new.shape or old.dtype != new.dtype:
            raise self.error(
                "Recomputed values for the following tensors have different metadata than during "
                f"the forward pass.\ntensor at position {holder.index}:\n"
                f"saved metadata: {_described(old)}\nrecomputed metadata: {_described(new)}"
            )

    def error(self, message: str) -> CheckpointError:
        return CheckpointError(
            f"torch.utils.checkpoint: {message}\nThe function that was checkpointed at "
            f"{sites.describe(self.site)} must do the same in every run; random numbers are drawn "
            f"again only with preserve_rng_state=True."
        )


def _same(x: Any) -> Any:
    return x


def _described(aval: Aval) -> str:
    return f"{{'shape': {list(aval.shape)}, 'dtype': torch.{aval.dtype.name}}}"


def _recorded(
    fn: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    context_fn: Callable[[], tuple[Any, Any]],
    **options: Any,
) -> Any:
    """`fn` without reentrance."""
    forward_context, recompute_context = context_fn()
    if not modes.get().records:
        with forward_context:
            return fn(*args, **kwargs)
    disabled = modes.get().pack
    if isinstance(disabled, str):
        raise RuntimeError(disabled)
    part = _Part(fn, args, kwargs, recompute_context=recompute_context, **options)
    with forward_context, modes.ModeSwitch(pack=(part.pack, part.unpack)):
        out = fn(*args, **kwargs)
    part.done = True
    return out


# ---------------------------------------------------------------- with reentrance


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn that no input requires grad, so that nothing will be differentiated."""
    if not any(isinstance(x, TensorBase) and views.edge(x) is not None for x in inputs):
        sites.warn("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """New leaves of the tensors among `inputs`, with the same `requires_grad`.

    Raises: RuntimeError: `inputs` is no tuple.
    """
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            f"Only tuple of tensors is supported. Got Unsupported input type: {type(inputs).__name__}"
        )
    return tuple(
        [
            x.detach().requires_grad_(views.edge(x) is not None)  # type: ignore[attr-defined]
            if isinstance(x, TensorBase)
            else x
            for x in inputs
        ]
    )


class CheckpointFunction(Function):
    """The node of a part that runs again, and backward in it, inside of backward."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        ctx.run_function = run_function
        ctx.state = _State(preserve_rng_state)
        ctx.places = [i for i, a in enumerate(args) if isinstance(a, TensorBase)]
        ctx.args = [None if isinstance(a, TensorBase) else a for a in args]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        if engine.running().captured is not None:
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.args)
        for i, x in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = x
        leaves = detach_variable(tuple(args))
        with modes.enable_grad(), ctx.state.again():
            out = ctx.run_function(*leaves)
        outs = out if isinstance(out, tuple) else (out,)
        live = [
            (o, g)
            for o, g in zip(outs, grads, strict=True)
            if isinstance(o, TensorBase) and views.edge(o) is not None
        ]
        if not live:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        backward([o for o, _ in live], [g for _, g in live])
        return (None, None, *(x._grad if isinstance(x, TensorBase) else None for x in leaves))


def _is_transformed(args: Sequence[Any]) -> bool:
    """Whether a functional transform differentiates this call, which has no pass to reenter."""
    return modes.get().level is not None or any(
        isinstance(a, TensorBase) and isinstance(a._array, Tracer) for a in args
    )


# ---------------------------------------------------------------- for users

_PASS_IT = (
    "the use_reentrant parameter should be passed explicitly. use_reentrant=False is recommended; "
    "what is used now is use_reentrant=True."
)


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """``function(*args, **kwargs)``, of which backward computes again what it needs.

    With `preserve_rng_state`, True if it is not given, the second run draws the same random numbers.
    `context_fn` returns the contexts that the two runs take place in. `early_stop`: the second run
    ends as soon as all is there. Errors name their places with and without `debug`.

    With `use_reentrant`, only gradients of tensors that are arguments by position are known, and only
    `backward` without `inputs` can compute them; the function must return a tensor or a tuple.

    Raises: ValueError: options that do not go together. In backward CheckpointError: the second run
    saved something else than the first one.

    >>> import compat as torch
    >>> from compat.utils.checkpoint import checkpoint
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = checkpoint(lambda x: x.exp().sin(), x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([-2.4784,  3.3129])
    """
    if use_reentrant is None:
        sites.warn(f"torch.utils.checkpoint: {_PASS_IT}")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if use_reentrant:
        if kwargs:
            raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        if _is_transformed(args):
            return function(*args)
        check_backward_validity(args)
        return CheckpointFunction.apply(function, preserve, *args)
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'], but got {determinism_check}"
        )
    set_to = _early_stop.get()
    return _recorded(
        function,
        args,
        kwargs,
        context_fn,
        preserve=preserve,
        checks=determinism_check == "default",
        early_stop=early_stop if set_to is None else set_to,
    )


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    **kwargs: Any,
) -> Any:
    """`functions`, an `nn.Sequential` or a list, one after the other, checkpointed in `segments`.

    The last segment is not checkpointed, as backward begins with it.

    Raises: ValueError: unknown keywords, or more segments than functions.

    >>> import compat as torch
    >>> from compat.utils.checkpoint import checkpoint_sequential
    >>> x = torch.tensor([1.0, 2.0], requires_grad=True)
    >>> y = checkpoint_sequential([torch.exp, torch.sin], 2, x, use_reentrant=False)
    >>> y.sum().backward()
    >>> x.grad
    tensor([-2.4784,  3.3129])
    """
    if use_reentrant is None:
        sites.warn(f"torch.utils.checkpoint.checkpoint_sequential: {_PASS_IT}")
        use_reentrant = True
    preserve = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    layers = list(functions.children() if isinstance(functions, Sequential) else functions)
    size = len(layers) // segments
    end = 0
    for start in range(0, size * (segments - 1), size):
        end = start + size
        input = checkpoint(
            _chain(layers[start:end]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve,
        )
    return _chain(layers[end:])(input)


def _chain(layers: Sequence[Callable[..., Any]]) -> Callable[[Any], Any]:
    def run(x: Any) -> Any:
        for layer in layers:
            x = layer(x)
        return x

    return run


__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_early_stop",
]
