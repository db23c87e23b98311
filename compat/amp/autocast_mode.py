"""`autocast`: contexts in which nothing is cast; one that would cast raises instead.

Products in bfloat16 or float16 give other numbers than those in float32, so an `autocast` that is
switched on must not pass silently. It passes where PyTorch switches it off too: for a GPU that is not
there, and for types that it does not cast to.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

from .. import cuda, dtypes
from ..autograd import sites
from ..size import device

F = TypeVar("F", bound=Callable[..., Any])

# Without the package ml_dtypes there is no bfloat16, only its name.
_BFLOAT16: Any = getattr(dtypes, "bfloat16", "torch.bfloat16")
_LOW = {"cpu": (_BFLOAT16, dtypes.float16), "cuda": (_BFLOAT16, dtypes.float16)}


def is_autocast_available(device_type: str) -> bool:
    """Whether PyTorch has an autocast for this type of device."""
    return device(device_type).type in _LOW


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """False: no context that casts can be entered here."""
    device(device_type)
    return False


def get_autocast_dtype(device_type: str) -> Any:
    """The type that an `autocast` without `dtype` is for."""
    return dtypes.float16 if device(device_type).type == "cuda" else _BFLOAT16


def is_autocast_cache_enabled() -> bool:
    """True, as PyTorch says where nobody has changed it; there are no casts to keep."""
    return True


def clear_autocast_cache() -> None:
    """Nothing: no casts are kept."""


class autocast:
    """A context, or a decorator, in which nothing is cast.

    With ``enabled=False`` that is what PyTorch does too, and where it warns and switches itself off.

    Raises: NotImplementedError: on entering one that would cast.
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = device(device_type).type
        self.fast_dtype = dtype or get_autocast_dtype(device_type)
        self._enabled = enabled and self._casts()

    def _casts(self) -> bool:
        if self.device == "cuda" and not cuda.is_available():
            sites.warn("User provided device_type of 'cuda', but CUDA is not available. Disabling")
            return False
        if self.fast_dtype not in _LOW.get(self.device, ()):
            sites.warn(
                f"In {self.device} autocast, but the target dtype is not supported. Disabling"
            )
            return False
        return True

    def __enter__(self) -> autocast:
        if self._enabled:
            raise NotImplementedError(
                f"autocast to {self.fast_dtype} is not offered here: it would change results. Pass "
                f"enabled=False, or move the model and its inputs with .to({self.fast_dtype})."
            )
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def __call__(self, func: F) -> F:
        @functools.wraps(func)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return within  # type: ignore[return-value]


def custom_fwd(fwd: Any = None, *, device_type: str = "cuda", cast_inputs: Any = None) -> Any:
    """The forward of a `Function`, as it is: casts happen only inside an `autocast`."""
    device(device_type)
    return functools.partial(custom_fwd, device_type=device_type) if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str = "cuda") -> Any:
    """The backward of a `Function`, as it is."""
    device(device_type)
    return functools.partial(custom_bwd, device_type=device_type) if bwd is None else bwd
