"""`GradScaler`: losses times a number, so that small gradients do not vanish in float16."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import cuda
from ..autograd import no_grad, sites
from ..autograd.base import TensorBase

READY, UNSCALED, STEPPED = "ready", "unscaled", "stepped"


class GradScaler:
    """A scale for losses that falls when gradients overflow and grows when they have not for long.

    >>> import compat as torch
    >>> w = torch.ones(2, requires_grad=True)
    >>> optimizer, scaler = torch.optim.SGD([w], lr=0.5), GradScaler("cpu", init_scale=4.0)
    >>> scaler.scale(w.sum()).backward()
    >>> w.grad
    tensor([4., 4.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> w.detach()
    tensor([0.5000, 0.5000])

    Raises: AssertionError: a factor is on the wrong side of 1.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._enabled = enabled
        if enabled and device == "cuda" and not cuda.is_available():
            sites.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling."
            )
            self._enabled = False
        if self._enabled:
            assert growth_factor > 1.0, "The growth factor must be > 1.0."
            assert backoff_factor < 1.0, "The backoff factor must be < 1.0."
        self._scale = float(init_scale)
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._growth_tracker = 0
        # By the id of the optimizer: where it stands in this iteration, and whether it overflowed.
        self._stages: dict[int, str] = {}
        self._overflowed: dict[int, bool] = {}

    def scale(self, outputs: Any) -> Any:
        """Tensors times the scale; lists and tuples of them too."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, TensorBase):
            scaled: Any = outputs
            return scaled * self._scale
        if isinstance(outputs, (list, tuple)):
            each = [self.scale(x) for x in outputs]
            return type(outputs)(*each) if hasattr(outputs, "_fields") else type(outputs)(each)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    @no_grad()
    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, in place.

        Raises: RuntimeError: that has been done since the last `update`.
        """
        if not self._enabled:
            return
        stage = self._stages.get(id(optimizer), READY)
        if stage == UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if stage == STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        self._stages[id(optimizer)] = UNSCALED
        gradients = [
            p.grad for g in optimizer.param_groups for p in g["params"] if p.grad is not None
        ]
        for gradient in gradients:
            gradient.mul_(1.0 / self._scale)
        if gradients:
            fine = all(bool(np.isfinite(g._array).all()) for g in gradients)
            self._overflowed[id(optimizer)] = not fine

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """``optimizer.step()`` with the gradients unscaled; nothing if one of them overflowed.

        Raises: RuntimeError: it has stepped since the last `update`, or got a closure.
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        stage = self._stages.get(id(optimizer), READY)
        if stage == STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if stage == READY:
            self.unscale_(optimizer)
        if id(optimizer) not in self._overflowed:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stages[id(optimizer)] = STEPPED
        return None if self._overflowed[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """The scale of the next iteration: `new_scale`, or as the overflows say."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._overflowed:
            raise AssertionError("No inf checks were recorded prior to update.")
        elif any(self._overflowed.values()):
            self._scale *= self._backoff_factor
            self._growth_tracker = 0
        else:
            self._growth_tracker += 1
            if self._growth_tracker == self._growth_interval:
                self._grow()
        self._stages.clear()
        self._overflowed.clear()

    def _grow(self) -> None:
        grown = float(np.float32(self._scale * self._growth_factor))
        self._scale = grown if np.isfinite(grown) else self._scale
        self._growth_tracker = 0

    def get_scale(self) -> float:
        """The scale; 1 if scaling is off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """What the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Change what `get_growth_factor` tells."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """What the scale is multiplied by after an overflow."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Change what `get_backoff_factor` tells."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """How many iterations without an overflow let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Change what `get_growth_interval` tells."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether it scales at all."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """The scale and the settings; empty if scaling is off."""
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._growth_tracker,
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave.

        Raises: RuntimeError: it is empty.
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
