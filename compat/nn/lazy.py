"""Lazy modules: layers that take the size of their inputs from the first one."""

from __future__ import annotations

from itertools import chain
from typing import Any

from ..autograd import no_grad
from ..ops.create import tensor
from . import conv, linear, normalization
from .conv import Given, PaddingMode
from .uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy


class LazyModuleMixin:
    """Makes a module that fills in its parameters when it is first called, or loaded.

    The constructor assigns an `UninitializedParameter` or `UninitializedBuffer` where a shape is not
    known; ``initialize_parameters(*args)``, which a subclass defines, is given the first inputs and
    materializes them. Then the module becomes one of the class `cls_to_become`, if there is one.
    """

    cls_to_become: type | None = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        module: Any = self
        self._load_hook = module._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = module.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _members(self) -> Any:
        own = self.__dict__
        return chain(own["_parameters"].items(), own["_buffers"].items())

    def has_uninitialized_params(self) -> bool:
        """Whether some shape is not known yet."""
        return any(is_lazy(member) for _, member in self._members())

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Materialize everything; the arguments are those of the first call."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """The hook before the first call, which ends with the module being an ordinary one."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {module._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *args: Any) -> None:
        """The hook before loading: what is saved with a shape is loaded into that shape."""
        for name, member in self._members():
            saved = state_dict.get(prefix + name)
            if is_lazy(member) and saved is not None and not is_lazy(saved):
                member.materialize(saved.shape)

    def _load_member(self, name: str, member: Any, key: str, value: Any, assign: bool) -> Any:
        if is_lazy(member):  # and so is the saved one
            return []
        return super()._load_member(name, member, key, value, assign)  # type: ignore[misc]


class _LazyLayer(LazyModuleMixin):
    """A layer of which one size is not known: the attribute `_size`."""

    _size: str
    weight: Any
    bias: Any

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once they are there."""
        if not self.has_uninitialized_params() and getattr(self, self._size) != 0:
            super().reset_parameters()  # type: ignore[misc]

    def _size_in(self, input: Any) -> int:
        """The size that is not known, in an input."""
        raise NotImplementedError

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """The shapes of all parameters and buffers, now that it is."""
        raise NotImplementedError

    def initialize_parameters(self, input: Any, *args: Any, **kwargs: Any) -> None:
        """Take the size from `input`, and draw the parameters that have not been loaded."""
        if getattr(self, self._size) == 0:
            setattr(self, self._size, self._size_in(input))
        if self.has_uninitialized_params():
            with no_grad():
                for name, shape in self._shapes().items():
                    member = getattr(self, name)
                    if is_lazy(member):
                        member.materialize(shape)
                self.reset_parameters()

    def _begin(self, bias: bool, device: Any, dtype: Any) -> None:
        """Have a weight, and a bias if there is one, without shapes."""
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)


# ---------------------------------------------------------------- linear


class LazyLinear(_LazyLayer, linear.Linear):
    """A `Linear` whose `in_features` are those of the first input.

    >>> import compat as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.ones(5, 3)).shape, layer
    (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = linear.Linear
    _size = "in_features"

    def __init__(
        self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(0, 0, False)
        self.out_features = out_features
        self._begin(bias, device, dtype)

    def _size_in(self, input: Any) -> int:
        found: int = input.shape[-1]
        if not is_lazy(self.weight) and found != self.weight.shape[-1]:
            raise AssertionError(
                f"The in_features inferred from input: {found} is not equal to in_features from "
                f"self.weight: {self.weight.shape[-1]}"
            )
        return found

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        return {"weight": (self.out_features, self.in_features), "bias": (self.out_features,)}


# ---------------------------------------------------------------- convolutions


class _LazyConvNd(_LazyLayer):
    """What lazy convolutions have in common."""

    _size = "in_channels"
    _ndim: int
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]
    transposed: bool

    def _size_in(self, input: Any) -> int:
        n = self._ndim
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        channels: int = input.shape[-n - 1]
        if channels % self.groups:
            raise ValueError("in_channels must be divisible by groups")
        return channels

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        first, second = self.out_channels, self.in_channels
        if self.transposed:
            first, second = second, first
        weight = (first, second // self.groups, *self.kernel_size)
        return {"weight": weight, "bias": (self.out_channels,)}


class _LazyConv(_LazyConvNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Given,
        stride: Given = 1,
        padding: str | Given = 0,
        dilation: Given = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: PaddingMode = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = (kernel_size, stride, padding, dilation, groups)
        super().__init__(0, 0, *window, False, padding_mode, device, dtype)
        self.out_channels = out_channels
        self._begin(bias, device, dtype)


class LazyConv1d(_LazyConv, conv.Conv1d):
    """A `Conv1d` whose `in_channels` are those of the first input.

    >>> import compat as torch
    >>> layer = torch.nn.LazyConv1d(4, 3)
    >>> layer(torch.ones(2, 6)).shape, layer.weight.shape
    (torch.Size([4, 4]), torch.Size([4, 2, 3]))
    """

    cls_to_become = conv.Conv1d


class LazyConv2d(_LazyConv, conv.Conv2d):
    """As `LazyConv1d`, with two spatial axes."""

    cls_to_become = conv.Conv2d


class LazyConv3d(_LazyConv, conv.Conv3d):
    """As `LazyConv1d`, with three spatial axes."""

    cls_to_become = conv.Conv3d


class _LazyConvTranspose(_LazyConvNd):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Given,
        stride: Given = 1,
        padding: Given = 0,
        output_padding: Given = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Given = 1,
        padding_mode: PaddingMode = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        window = (kernel_size, stride, padding, output_padding, groups)
        super().__init__(0, 0, *window, False, dilation, padding_mode, device, dtype)
        self.out_channels = out_channels
        self._begin(bias, device, dtype)


class LazyConvTranspose1d(_LazyConvTranspose, conv.ConvTranspose1d):
    """A `ConvTranspose1d` whose `in_channels` are those of the first input."""

    cls_to_become = conv.ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, conv.ConvTranspose2d):
    """As `LazyConvTranspose1d`, with two spatial axes."""

    cls_to_become = conv.ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, conv.ConvTranspose3d):
    """As `LazyConvTranspose1d`, with three spatial axes."""

    cls_to_become = conv.ConvTranspose3d


# ---------------------------------------------------------------- normalisation


class _LazyNorm(_LazyLayer):
    """What lazy normalisations have in common."""

    _size = "num_features"
    num_features: int

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False, device, dtype, bias=False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self._begin(bias, device, dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, device=device)

    def _size_in(self, input: Any) -> int:
        channels: int = input.shape[1]
        return channels

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        size = (self.num_features,)
        return dict.fromkeys(("weight", "bias", "running_mean", "running_var"), size)


class LazyBatchNorm1d(_LazyNorm, normalization.BatchNorm1d):
    """A `BatchNorm1d` whose `num_features` are those of the first input.

    >>> import compat as torch
    >>> torch.nn.LazyBatchNorm1d()(torch.tensor([[0.0], [2.0]])).tolist()
    [[-0.9999949932098389], [0.9999949932098389]]
    """

    cls_to_become = normalization.BatchNorm1d


class LazyBatchNorm2d(_LazyNorm, normalization.BatchNorm2d):
    """As `LazyBatchNorm1d`, with two spatial axes."""

    cls_to_become = normalization.BatchNorm2d


class LazyBatchNorm3d(_LazyNorm, normalization.BatchNorm3d):
    """As `LazyBatchNorm1d`, with three spatial axes."""

    cls_to_become = normalization.BatchNorm3d


class LazyInstanceNorm1d(_LazyNorm, normalization.InstanceNorm1d):
    """An `InstanceNorm1d` whose `num_features` are those of the first input, on axis 1."""

    cls_to_become = normalization.InstanceNorm1d


class LazyInstanceNorm2d(_LazyNorm, normalization.InstanceNorm2d):
    """As `LazyInstanceNorm1d`, with two spatial axes."""

    cls_to_become = normalization.InstanceNorm2d


class LazyInstanceNorm3d(_LazyNorm, normalization.InstanceNorm3d):
    """As `LazyInstanceNorm1d`, with three spatial axes."""

    cls_to_become = normalization.InstanceNorm3d


__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]
