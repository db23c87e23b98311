"""Normalisation over a batch."""

from __future__ import annotations

from typing import Any

from .. import dtypes
from ..ops.create import empty, tensor
from ..parameter import Parameter
from . import functional as F
from . import init
from .module import Module


class BatchNorm1d(Module):
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

    _version = 2

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
        self.register_parameter(
            "weight", Parameter(empty(size, dtype=dtype, device=device)) if affine else None
        )
        has_bias = affine and bias
        self.register_parameter(
            "bias", Parameter(empty(size, dtype=dtype, device=device)) if has_bias else None
        )
        tracked = track_running_stats
        self.register_buffer(
            "running_mean", empty(size, dtype=dtype, device=device) if tracked else None
        )
        self.register_buffer(
            "running_var", empty(size, dtype=dtype, device=device) if tracked else None
        )
        count = tensor(0, dtype=dtypes.int64) if tracked else None
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
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")
        factor = self.momentum
        if self.training and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if factor is None:
                factor = 1.0 / self.num_batches_tracked.item()
        tracked = self.running_mean is not None
        return F.batch_norm(
            input,
            self.running_mean if self.track_running_stats or not self.training else None,
            self.running_var if self.track_running_stats or not self.training else None,
            self.weight,
            self.bias,
            self.training or not tracked,
            0.0 if factor is None else factor,
            self.eps,
        )

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
