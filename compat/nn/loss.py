"""Losses as modules."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from . import functional as F
from .ctc import ctc_loss
from .distance import PairwiseDistance
from .loss_functions import reduction_of
from .module import Module


class _Loss(Module):
    """A loss with a `reduction`: "mean", "sum" or "none"; `size_average` and `reduce` are old forms.

    ``class X(_Loss, of=f, options=names)`` calls `f` with those attributes and the reduction.
    """

    _function: Callable[..., Any]
    _options: tuple[str, ...] = ()

    def __init_subclass__(
        cls, of: Callable[..., Any] | None = None, options: str = "", **given: Any
    ) -> None:
        super().__init_subclass__(**given)
        if of is not None:
            cls._function = staticmethod(of)
            cls._options = (*options.split(), "reduction")

    def __init__(
        self, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
    ) -> None:
        super().__init__()
        self.reduction = reduction_of(size_average, reduce, reduction)

    def _of(self, *given: Any) -> Any:
        return self._function(*given, **{name: getattr(self, name) for name in self._options})

    def forward(self, input: Any, target: Any) -> Any:
        if len(self._options) == 1:
            return self._function(input, target, reduction=self.reduction)
        return self._of(input, target)


class _WeightedLoss(_Loss):
    """A loss with weights, which are state."""

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


# ---------------------------------------------------------------- distances


class MSELoss(_Loss, of=F.mse_loss):
    """``(x - y)^2``, see `functional.mse_loss`.

    >>> import compat as torch
    >>> torch.nn.MSELoss()(torch.tensor([1.0, 3.0]), torch.tensor([1.0, 1.0]))
    tensor(2.)
    """


class L1Loss(_Loss, of=F.l1_loss):
    """``|x - y|``, see `functional.l1_loss`."""


class SmoothL1Loss(_Loss, of=F.smooth_l1_loss, options="beta"):
    """`MSELoss` where ``|x - y|`` is less than `beta`, elsewhere `L1Loss`.

    See `functional.smooth_l1_loss`.
    """

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta


class HuberLoss(_Loss, of=F.huber_loss, options="delta"):
    """`SmoothL1Loss` times `delta`, see `functional.huber_loss`."""

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta


# ---------------------------------------------------------------- likelihoods


class NLLLoss(_WeightedLoss, of=F.nll_loss, options="weight ignore_index"):
    """``-x[y]`` of log-probabilities, see `functional.nll_loss`."""

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index


class NLLLoss2d(NLLLoss):
    """The old name of `NLLLoss` for images."""

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        said = "NLLLoss2d has been deprecated: use NLLLoss, which takes images too"
        warnings.warn(said, FutureWarning, stacklevel=2)
        super().__init__(weight, size_average, ignore_index, reduce, reduction)


class CrossEntropyLoss(
    _WeightedLoss, of=F.cross_entropy, options="weight ignore_index label_smoothing"
):
    """``-log softmax(x)[y]`` of logits, see `functional.cross_entropy`.

    >>> import compat as torch
    >>> torch.nn.CrossEntropyLoss()(torch.zeros(2, 4), torch.tensor([0, 3]))
    tensor(1.3863)
    """

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        ignore_index: int = -100,
        reduce: Any = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing


class BCELoss(_WeightedLoss, of=F.binary_cross_entropy, options="weight"):
    """``-(y log x + (1 - y) log(1 - x))``, see `functional.binary_cross_entropy`."""


class BCEWithLogitsLoss(_Loss, of=F.binary_cross_entropy_with_logits, options="weight pos_weight"):
    """The same of logits, see `functional.binary_cross_entropy_with_logits`."""

    def __init__(
        self,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        pos_weight: Any = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)


class KLDivLoss(_Loss, of=F.kl_div, options="log_target"):
    """``y (log y - x)`` of log-probabilities x, see `functional.kl_div`."""

    def __init__(
        self,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target


class PoissonNLLLoss(_Loss, of=F.poisson_nll_loss, options="log_input full eps"):
    """``exp(x) - y x``, of Poisson's distribution, see `functional.poisson_nll_loss`."""

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: Any = None,
        eps: float = 1e-8,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps


class GaussianNLLLoss(_Loss, of=F.gaussian_nll_loss, options="full eps"):
    """``(log v + (x - y)^2 / v) / 2`` of normal distributions, see `functional.gaussian_nll_loss`."""

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Any, target: Any, var: Any) -> Any:  # type: ignore[override]
        return self._of(input, target, var)


class CTCLoss(_Loss, of=ctc_loss, options="blank zero_infinity"):
    """Of a sequence whose labels are known, but not when they are, see `functional.ctc_loss`.

    >>> import compat as torch
    >>> log_probs = torch.full((2, 1, 2), 0.5).log()
    >>> CTCLoss()(log_probs, torch.tensor([[1]]), torch.tensor([2]), torch.tensor([1])).exp()
    tensor(1.3333)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(  # type: ignore[override]
        self, log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any
    ) -> Any:
        return self._of(log_probs, targets, input_lengths, target_lengths)


# ---------------------------------------------------------------- margins


class _MarginLoss(_Loss):
    """A loss whose `margin` comes first."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss, of=F.hinge_embedding_loss, options="margin"):
    """``x`` where y is 1, ``max(0, margin - x)`` where it is -1."""

    def __init__(
        self,
        margin: float = 1.0,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)


class MarginRankingLoss(_MarginLoss, of=F.margin_ranking_loss, options="margin"):
    """``max(0, margin - y (x1 - x2))``, see `functional.margin_ranking_loss`."""

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:  # type: ignore[override]
        return self._of(input1, input2, target)


class CosineEmbeddingLoss(_MarginLoss, of=F.cosine_embedding_loss, options="margin"):
    """``1 - cos(x1, x2)`` where y is 1, ``max(0, cos(x1, x2) - margin)`` where it is -1."""

    def forward(self, input1: Any, input2: Any, target: Any) -> Any:  # type: ignore[override]
        return self._of(input1, input2, target)


class SoftMarginLoss(_Loss, of=F.soft_margin_loss):
    """``log(1 + exp(-y x))``, see `functional.soft_margin_loss`."""


class MultiLabelMarginLoss(_Loss, of=F.multilabel_margin_loss):
    """``max(0, 1 - (x[y_j] - x_i))`` over labels y and others, `functional.multilabel_margin_loss`."""


class MultiLabelSoftMarginLoss(_WeightedLoss, of=F.multilabel_soft_margin_loss, options="weight"):
    """`BCEWithLogitsLoss`, averaged over classes, see `functional.multilabel_soft_margin_loss`."""


class MultiMarginLoss(_WeightedLoss, of=F.multi_margin_loss, options="p margin weight"):
    """``max(0, margin - x[y] + x_i)^p`` over the classes, see `functional.multi_margin_loss`.

    Raises: ValueError: `p` is neither 1 nor 2, or `weight` is no vector.
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Any = None,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D "
                "instead"
            )
        self.p = p
        self.margin = margin


def _require_positive(loss: Module, margin: float) -> None:
    if margin <= 0:
        raise ValueError(
            f"{type(loss).__name__}: expected margin to be greater than 0, got {margin} instead"
        )


class TripletMarginLoss(_Loss, of=F.triplet_margin_loss, options="margin p eps swap"):
    """``max(0, |a - p| - |a - n| + margin)``, see `functional.triplet_margin_loss`.

    Raises: ValueError: `margin` is not positive.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: Any = None,
        reduce: Any = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        _require_positive(self, margin)
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:  # type: ignore[override]
        return self._of(anchor, positive, negative)


class TripletMarginWithDistanceLoss(
    _Loss, of=F.triplet_margin_with_distance_loss, options="distance_function margin swap"
):
    """`TripletMarginLoss` with another distance, which is `PairwiseDistance` if None is given.

    Raises: ValueError: `margin` is not positive.
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Any, Any], Any] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        _require_positive(self, margin)
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Any, positive: Any, negative: Any) -> Any:  # type: ignore[override]
        return self._of(anchor, positive, negative)


__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]
