"""``weight = g v / |v|``: the length and the direction of weights as parameters of their own."""

from __future__ import annotations

import warnings
from typing import Any

from funcgrad.ops import reduce as reductions
from funcgrad.ops import structural

from ...autograd import modes
from ...ops._fused import fused
from ...ops.shape import transpose
from ...parameter import Parameter


def _other_axes(ndim: int, dim: int) -> tuple[int, ...]:
    """All axes but `dim`; all of them if it is -1."""
    kept = -1 if dim == -1 else dim % ndim
    return tuple(i for i in range(ndim) if i != kept)


def _norms(v: Any, /, *, dim: int) -> Any:
    axes = _other_axes(v.ndim, dim)
    found = reductions.norm2(v, axis=axes)
    return found if dim == -1 else found.reshape(structural.kept(v.shape, axes))


def _scaled(v: Any, g: Any, /, *, dim: int) -> Any:
    return v * (g / _norms(v, dim=dim))


def norms_of(v: Any, dim: int) -> Any:
    """The norms of the slices of a tensor along `dim`, kept as an axis; of all of it if that is -1.

    Raises: IndexError: there is no such axis.
    """
    if dim not in (-1, 0):
        transpose(v, 0, dim)  # checks the axis
    return fused("NormExceptDimBackward0", _norms, v, dim=dim)


def weight_of(v: Any, g: Any, dim: int) -> Any:
    """``g v / |v|``, with the norm along all axes but `dim`."""
    is_outer = dim in (0, len(v._array.shape) - 1)
    node = "WeightNormInterfaceBackward0" if is_outer else "MulBackward0"
    return fused(node, _scaled, v, g, dim=dim)


def find_hook(module: Any, kind: type[Any], name: str) -> int | None:
    """The number of the hook of this kind before `forward`, for this name; None if there is none."""
    for number, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and hook.name == name:
            return number
    return None


class WeightNorm:
    """The hook that computes the weight before every call of `forward`."""

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Any) -> Any:
        """The weight, from the parameters in its place."""
        g, v = (getattr(module, self.name + suffix) for suffix in ("_g", "_v"))
        return weight_of(v, g, self.dim)

    @staticmethod
    def apply(module: Any, name: str, dim: int | None) -> WeightNorm:
        """Put the two parameters in the place of the weight.

        Raises: RuntimeError: that was done before.
        """
        warnings.warn(
            "`torch.nn.utils.weight_norm` is deprecated in favor of "
            "`torch.nn.utils.parametrizations.weight_norm`.",
            FutureWarning,
            stacklevel=3,
        )
        if find_hook(module, WeightNorm, name) is not None:
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        with modes.no_grad():
            norms = norms_of(weight, hook.dim)
        del module._parameters[name]
        module.register_parameter(name + "_g", Parameter(norms))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        for suffix in ("_g", "_v"):
            del module._parameters[self.name + suffix]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Replace ``module.weight`` by ``weight_g`` and ``weight_v``; `parametrizations` has a newer form.

    `dim`: the axis whose slices have lengths of their own; None: one length for all.

    Raises: RuntimeError: that was done before.
    """
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight an ordinary parameter again.

    Raises: ValueError: it is one.
    """
    number = find_hook(module, WeightNorm, name)
    if number is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    module._forward_pre_hooks[number].remove(module)
    del module._forward_pre_hooks[number]
    return module


__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]
