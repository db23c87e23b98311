"""Whether operations are recorded: `no_grad`, `enable_grad`, `set_grad_enabled`, `inference_mode`.

The mode is one immutable object in a `ContextVar`, so it is local to a thread and restored whatever
happens. The two common modes, `GRAD` and `NO_GRAD`, are compared by identity on fast paths; any
other mode (inference, saved-tensor hooks, anomaly detection) takes the general path.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple, Self, TypeVar, overload

_F = TypeVar("_F", bound=Callable[..., Any])


class Mode(NamedTuple):
    """How operations are treated.

    `records`: a graph is built. `inference`: results are inference tensors. `pack`: the pair of
    saved-tensor hooks in force, or the message to raise with where hooks are disabled. `anomaly`: None,
    or whether gradients are checked for NaN while forward places are kept.
    """

    records: bool = True
    inference: bool = False
    pack: Any = None
    anomaly: bool | None = None
    unlocked: Any = None  # the store of `allow_mutation_on_saved_tensors`
    level: Any = None  # the innermost transform of `compat.func`; see `levels.py`
    forward: Any = None  # of a custom `Function`, which notes what depends on its inputs


GRAD = Mode()
NO_GRAD = Mode(records=False)

current: ContextVar[Mode] = ContextVar("mode", default=GRAD)
get = current.get


def changed(**changes: Any) -> Mode:
    """The current mode with some fields changed; the common two are always the same objects."""
    made = get()._replace(**changes)
    return GRAD if made == GRAD else NO_GRAD if made == NO_GRAD else made


class ModeSwitch:
    """A context manager and decorator that runs code with some fields of the mode changed.

    Decorated generators run with it between their yields. One object may be entered repeatedly.
    """

    changes: dict[str, Any]
    _tokens: list[Any]

    # All of it in `__new__`: a call less for each `with`.
    def __new__(cls, *_: Any, **changes: Any) -> Self:
        made = object.__new__(cls)
        made._tokens = []
        if changes:
            made.changes = changes
        return made

    def __enter__(self) -> Any:
        self._tokens.append(current.set(changed(**self.changes)))
        return None

    def __exit__(self, *_: Any) -> None:
        current.reset(self._tokens.pop())

    def clone(self) -> ModeSwitch:
        return ModeSwitch(**self.changes)

    def __call__(self, f: _F) -> _F:
        if inspect.isclass(f):
            raise RuntimeError("a grad mode cannot decorate a class; decorate its methods")
        if inspect.isgeneratorfunction(f):
            return _decorated_generator(self, f)  # type: ignore[return-value]

        @functools.wraps(f)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return f(*args, **kwargs)

        return decorated  # type: ignore[return-value]


def _decorated_generator(switch: ModeSwitch, f: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(f)
    def generator(*args: Any, **kwargs: Any) -> Any:
        running = f(*args, **kwargs)
        step, value = running.send, None
        try:
            while True:
                with switch.clone():
                    out = step(value)
                try:
                    step, value = running.send, (yield out)
                except GeneratorExit:
                    with switch.clone():
                        running.close()
                    raise
                except BaseException as error:
                    step, value = running.throw, error
        except StopIteration as end:
            return end.value

    return generator


class no_grad(ModeSwitch):
    """Operations inside are not recorded; results do not require gradients.

    Derivative: results are constants of every later backward pass.

    >>> import compat as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> with torch.no_grad():
    ...     (x * 2).requires_grad
    False
    """

    changes = {"records": False}  # noqa: RUF012 (nobody writes into it)

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, f: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, f: Any = None) -> Any:
        made = object.__new__(cls)
        made._tokens = []
        return made if f is None else made(f)  # @no_grad without parentheses

    def __enter__(self) -> None:
        mode = get()
        usual = mode is GRAD or mode is NO_GRAD
        self._tokens.append(current.set(NO_GRAD if usual else mode._replace(records=False)))


class enable_grad(ModeSwitch):
    """Operations inside are recorded, also within `no_grad`."""

    changes = {"records": True}  # noqa: RUF012 (nobody writes into it)

    @overload
    def __new__(cls) -> Self: ...
    @overload
    def __new__(cls, f: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, f: Any = None) -> Any:
        made = super().__new__(cls)
        return made if f is None else made(f)


class set_grad_enabled(ModeSwitch):
    """Record or not, from the call on; as a context manager only inside it."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                "set_grad_enabled(): argument 'enabled' (position 1) must be bool, not "
                f"{type(mode).__name__}"
            )
        self.changes = {"records": bool(mode)}
        self._before = get()
        current.set(changed(records=bool(mode)))

    def __enter__(self) -> None:
        self._tokens.append(self._before)
        current.set(changed(**self.changes))

    def __exit__(self, *_: Any) -> None:
        current.set(self._tokens.pop())

    def __call__(self, f: _F) -> _F:
        current.set(self._before)
        return super().__call__(f)


class inference_mode(ModeSwitch):
    """As `no_grad`, and results can never take part in a graph; they count no versions."""

    @overload
    def __new__(cls, mode: bool = True) -> Self: ...
    @overload
    def __new__(cls, mode: _F) -> _F: ...  # type: ignore[misc]
    def __new__(cls, mode: Any = True, *_: Any, **__: Any) -> Any:
        made = super().__new__(cls)
        if not callable(mode):
            return made
        made.__init__()  # type: ignore[misc]
        return made(mode)

    def __init__(self, mode: bool = True) -> None:
        self.changes = {"records": not mode, "inference": bool(mode)}


def is_grad_enabled() -> bool:
    """Whether operations are recorded now."""
    return get().records


def is_inference_mode_enabled() -> bool:
    """Whether results are inference tensors now."""
    return get().inference
