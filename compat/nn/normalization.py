"""Normalisation: over a batch, over examples, over channels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import dtypes
from ..autograd import sites
from ..ops.create import empty, tensor
from ..parameter import Parameter
from . import functional as F
from . import init
from .module import Module


def _vector(module: Module, name: str, present: bool, size: Any, dtype: Any, device: Any) -> None:
    """Register a parameter, not filled yet, or None under its name."""
    found = Parameter(empty(size, dtype=dtype, device=device)) if present else None
    module.register_parameter(name, found)


def _start_again(module: Any) -> None:
    """Make the scale 1 and the shift 0."""
    if module.weight is not None:
        init.ones_(module.weight)
    if module.bias is not None:
        init.zeros_(module.bias)


# ---------------------------------------------------------------- with running statistics


class _Tracking(Module):
    """Scale and shift of each channel, and its running mean and variance.

    `_axes` are the numbers of axes that an input may have.
    """

    _version = 2
    _axes: tuple[int, ...]

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        size = (num_features,)
        _vector(self, "weight", affine, size, dtype, device)
        _vector(self, "bias", affine and bias, size, dtype, device)
        for name in ("running_mean", "running_var"):
            start = empty(size, dtype=dtype, device=device) if track_running_stats else None
            self.register_buffer(name, start)
        count = tensor(0, dtype=dtypes.int64, device=device) if track_running_stats else None
        self.register_buffer("num_batches_tracked", count)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget the batches so far."""
        if self.track_running_stats:
            init.zeros_(self.running_mean)
            init.ones_(self.running_var)
            init.zeros_(self.num_batches_tracked)

    def reset_parameters(self) -> None:
        """Forget the batches so far, and make the scale 1 and the shift 0."""
        self.reset_running_stats()
        _start_again(self)

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in self._axes:
            expected = " or ".join(f"{n}D" for n in self._axes)
            raise ValueError(f"expected {expected} input (got {input.dim()}D input)")

    def _load_from_state_dict(self, state_dict: Any, prefix: str, *args: Any) -> None:
        # What was saved before version 2 has no count of batches.
        if args[0].get("version") in (None, 1) and self.num_batches_tracked is not None:
            state_dict.setdefault(f"{prefix}num_batches_tracked", self.num_batches_tracked)
        super()._load_from_state_dict(state_dict, prefix, *args)

    def extra_repr(self) -> str:
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Tracking):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, of each channel over the batch."""

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        factor = self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if factor is None:
                factor = 1.0 / self.num_batches_tracked.item()
        used = self.track_running_stats or not self.training
        return F.batch_norm(
            input,
            self.running_mean if used else None,
            self.running_var if used else None,
            self.weight,
            self.bias,
            self.training or self.running_mean is None,
            0.0 if factor is None else factor,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, of each feature over the batch.

    In training, mean and variance are those of the batch, and the running ones move towards them by
    `momentum` (None: they are the averages over all batches); in evaluation the running ones are
    used, if they are tracked.

    Shapes: ``(N, C)`` or ``(N, C, L)``, with ``C = num_features``.
    Raises: ValueError: the input has another number of axes, or one value for each feature only.

    >>> import compat as torch
    >>> torch.nn.BatchNorm1d(1)(torch.tensor([[0.0], [2.0]]))
    tensor([[-1.0000],
            [ 1.0000]], grad_fn=<NativeBatchNormBackward0>)
    """

    _axes = (2, 3)


class BatchNorm2d(_BatchNorm):
    """`BatchNorm1d` for the channels of images, ``(N, C, H, W)``."""

    _axes = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm1d` for the channels of volumes, ``(N, C, D, H, W)``."""

    _axes = (5,)


class SyncBatchNorm(_BatchNorm):
    """`BatchNorm1d` over the batches of all processes, of which there is one here.

    `process_group` is kept and not used.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        options = (eps, momentum, affine, track_running_stats, device, dtype)
        super().__init__(num_features, *options, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """A module whose batch normalizations, which keep their tensors, are of this class."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, process_group=process_group)
            made.__dict__.update(module.__dict__)
            made.process_group = process_group
        for name, child in list(module.named_children()):
            setattr(made, name, cls.convert_sync_batchnorm(child, process_group))
        return made


class _InstanceNorm(_Tracking):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, of each channel of each example."""

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        one_example = input.dim() == self._axes[0]
        axis = 0 if one_example else 1
        if input.size(axis) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={axis} to match num_features "
                    f"({self.num_features}), but got: {input.size(axis)}."
                )
            sites.warn(
                f"input's size at dim={axis} does not match num_features. It is not used because "
                "affine=False; make the module with the right number to silence this warning."
            )
        found = F.instance_norm(
            input.unsqueeze(0) if one_example else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return found.squeeze(0) if one_example else found


class InstanceNorm1d(_InstanceNorm):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, of each channel of each example.

    `affine`: with weight and bias. `track_running_stats`: in training the running mean and variance
    move towards those of the examples, and in evaluation they are used.

    Shapes: ``(N, C, L)`` or ``(C, L)``, with ``C = num_features``.
    Raises: ValueError: the input has another number of axes, or channels that do not fit.

    >>> import compat as torch
    >>> InstanceNorm1d(2)(torch.tensor([[0.0, 2.0], [1.0, 7.0]]))
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    _axes = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """`InstanceNorm1d` for images, ``(N, C, H, W)`` or ``(C, H, W)``."""

    _axes = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """`InstanceNorm1d` for volumes, ``(N, C, D, H, W)`` or ``(C, D, H, W)``."""

    _axes = (4, 5)


# ---------------------------------------------------------------- within an example


def _lengths(given: int | Sequence[int]) -> tuple[int, ...]:
    return (given,) if isinstance(given, int) else tuple(given)


class LayerNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over the last axes, of `normalized_shape`.

    >>> import compat as torch
    >>> LayerNorm(2)(torch.tensor([[0.0, 2.0], [1.0, 7.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _lengths(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _vector(self, "weight", elementwise_affine, self.normalized_shape, dtype, device)
        _vector(self, "bias", elementwise_affine and bias, self.normalized_shape, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make the scale 1 and the shift 0."""
        _start_again(self)

    def forward(self, input: Any) -> Any:
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, "
            f"elementwise_affine={self.elementwise_affine}, bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """``x / sqrt(mean(x^2) + eps) * weight``, over the last axes, of `normalized_shape`.

    `eps` is by default the precision of the dtype.

    >>> import compat as torch
    >>> RMSNorm(2)(torch.tensor([1.0, 7.0])).detach()
    tensor([0.2000, 1.4000])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _lengths(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        _vector(self, "weight", elementwise_affine, self.normalized_shape, dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make the scale 1."""
        if self.weight is not None:
            init.ones_(self.weight)

    def forward(self, input: Any) -> Any:
        return F.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
        )


class GroupNorm(Module):
    """``(x - mean) / sqrt(var + eps) * weight + bias``, over each group of channels of an example.

    Shapes: ``(N, C, *)``, with ``C = num_channels``.
    Raises: ValueError: the channels cannot be divided into that many groups.

    >>> import compat as torch
    >>> GroupNorm(1, 2)(torch.tensor([[0.0, 2.0], [1.0, 7.0]])).detach()
    tensor([[-1.0000,  1.0000],
            [-1.0000,  1.0000]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        _vector(self, "weight", affine, (num_channels,), dtype, device)
        _vector(self, "bias", affine and bias, (num_channels,), dtype, device)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Make the scale 1 and the shift 0."""
        _start_again(self)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """``x / (k + alpha * mean(x^2))^beta``, with the mean over `size` channels around each.

    Shapes: ``(N, C, *)``, with one axis of space at least.
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
    "SyncBatchNorm",
]
