"""Pruning: weights are multiplied by a mask of zeros and ones before every call of `forward`.

``weight`` becomes a product of the parameter ``weight_orig`` and the buffer ``weight_mask``. A
method of pruning says which mask; pruning again goes on from the mask that there is.
"""

from __future__ import annotations

import numbers
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import Any

from ...autograd import modes
from ...ops.join import cat
from ...ops.like import ones_like, zeros_like
from ...ops.norm import norm
from ...ops.random import rand
from ...ops.sort import topk


class BasePruningMethod(ABC):
    """A way to choose the mask; the hook that applies it. Subclasses define `compute_mask`.

    `PRUNING_TYPE` says what a second method works on: "unstructured": on the elements that are
    left, "structured": on the slices along `dim` that are left, "global": on everything.
    """

    _tensor_name: str
    PRUNING_TYPE: str

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abstractmethod
    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        """The mask for elements of these scores, as a change of the mask so far."""

    def apply_mask(self, module: Any) -> Any:
        """The product of parameter and mask."""
        mask, original = (getattr(module, self._tensor_name + end) for end in ("_mask", "_orig"))
        return mask.to(original.dtype) * original

    @classmethod
    def apply(
        cls, module: Any, name: str, *args: Any, importance_scores: Any = None, **kwargs: Any
    ) -> Any:
        """Prune ``module.name`` by ``cls(*args, **kwargs)``, or further if it is pruned.

        `importance_scores`: judge by these instead of the elements.
        """
        method: Any = cls(*args, **kwargs)
        method._tensor_name = name
        previous = _hook_numbers(module, name)
        original = getattr(module, name)
        if importance_scores is None:
            importance_scores = original
        _check_scores(importance_scores, original)
        if previous:
            method = _joined(module._forward_pre_hooks[previous[0]], method)
            mask = getattr(module, name + "_mask").detach().clone()
        else:
            mask = ones_like(original, requires_grad=False)
        with modes.no_grad():
            mask = method.compute_mask(importance_scores, default_mask=mask)
        if previous:
            del module._forward_pre_hooks[previous[0]]
        else:
            del module._parameters[name]
            module.register_parameter(name + "_orig", original)
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(self, t: Any, default_mask: Any = None, importance_scores: Any = None) -> Any:
        """A tensor times its mask; nothing is remembered."""
        scores = t if importance_scores is None else importance_scores
        _check_scores(scores, t)
        mask = ones_like(t, requires_grad=False) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=mask)

    def remove(self, module: Any) -> None:
        """Make the product the parameter."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


def _hook_numbers(module: Any, name: str) -> list[int]:
    """The numbers of the hooks that prune this tensor."""
    return [
        number
        for number, hook in module._forward_pre_hooks.items()
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name
    ]


def _check_scores(scores: Any, t: Any) -> None:
    """Raises: AssertionError: the shapes differ."""
    if scores.shape != t.shape:
        raise AssertionError(
            f"importance_scores should have the same shape as the tensor, got {scores.shape} vs "
            f"{t.shape}"
        )


def _joined(before: Any, method: Any) -> Any:
    """A container of the methods so far and this one."""
    first, *rest = before if isinstance(before, PruningContainer) else [before]
    container = PruningContainer(first)
    for other in (*rest, method):
        container.add_pruning_method(other)
    return container


class PruningContainer(BasePruningMethod):
    """Methods that prune one after the other.

    Raises: TypeError: one is no method. ValueError: they prune different tensors.
    """

    def __init__(self, *args: Any) -> None:
        self._pruning_methods: tuple[Any, ...] = ()
        if len(args) == 1:
            self._tensor_name = args[0]._tensor_name
        for method in args:
            self.add_pruning_method(method)

    def add_pruning_method(self, method: Any) -> None:
        """Add one, which prunes what the others left."""
        if not isinstance(method, BasePruningMethod) and method is not None:
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        if method is not None and self._tensor_name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{self._tensor_name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._pruning_methods)

    def __getitem__(self, idx: Any) -> Any:
        return self._pruning_methods[idx]

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        method = self._pruning_methods[-1]
        part = _part_left(method, t, default_mask)
        mask = default_mask.to(t.dtype).clone()
        mask[part] = method.compute_mask(t[part], default_mask=default_mask[part]).to(mask.dtype)
        return mask


def _part_left(method: Any, t: Any, mask: Any) -> Any:
    """The index of what a further method works on.

    Raises: ValueError: its `PRUNING_TYPE` is unknown. IndexError: there is no such axis.
    """
    ndim = t.dim()
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * ndim
    if method.PRUNING_TYPE != "structured":
        raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
    if not hasattr(method, "dim"):
        raise AttributeError(
            'Pruning methods of PRUNING_TYPE "structured" need to have the attribute `dim` defined.'
        )
    axis = method.dim + ndim if method.dim < 0 else method.dim
    if axis < 0:
        raise IndexError(f"Index is out of bounds for tensor with dimensions {ndim}")
    left = mask.sum(dim=[i for i in range(ndim) if i != axis]) != 0
    return tuple(left if i == axis else slice(None) for i in range(ndim))


# ---------------------------------------------------------------- methods


def _check_amount(amount: Any) -> None:
    """Raises: TypeError, ValueError: neither a part nor a number of elements."""
    if not isinstance(amount, numbers.Real):
        raise TypeError(f"Invalid type for amount: {amount}. Must be int or float.")
    value: Any = amount
    if value < 0 or (value > 1 and not isinstance(value, numbers.Integral)):
        raise ValueError(
            f"amount={amount} should either be a float in the range [0, 1] or a non-negative integer"
        )


def _count(amount: Any, size: int) -> int:
    """How many of `size` to prune.

    Raises: ValueError: more than there are.
    """
    if not isinstance(amount, numbers.Integral):
        return round(amount * size)
    if int(amount) > size:
        raise ValueError(
            f"amount={amount} should be smaller than the number of parameters to prune={size}"
        )
    return int(amount)


class Identity(BasePruningMethod):
    """Prunes nothing, but makes the parameter and the mask."""

    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        return default_mask


class _Unstructured(BasePruningMethod):
    """Prunes the elements of the lowest scores."""

    PRUNING_TYPE = "unstructured"

    def __init__(self, amount: Any) -> None:
        _check_amount(amount)
        self.amount = amount

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        count = _count(self.amount, t.numel())
        mask = default_mask.clone().reshape(-1)
        if count:
            mask[topk(self._scores(t).reshape(-1), count, largest=False).indices] = 0
        return mask.reshape(default_mask.shape)


class RandomUnstructured(_Unstructured):
    """Prunes any elements; `amount`: a part, or how many."""

    def _scores(self, t: Any) -> Any:
        return rand(t.numel())


class L1Unstructured(_Unstructured):
    """Prunes the smallest elements; `amount`: a part, or how many."""

    def _scores(self, t: Any) -> Any:
        return t.abs()


class _Structured(BasePruningMethod):
    """Prunes the slices of the lowest scores along an axis."""

    PRUNING_TYPE = "structured"
    amount: Any
    dim: int

    def _scores(self, t: Any) -> Any:
        raise NotImplementedError

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if t.dim() <= 1:
            raise ValueError(
                "Structured pruning can only be applied to multidimensional tensors. Found tensor "
                f"of shape {t.shape} with {t.dim()} dims"
            )
        if self.dim >= t.dim():
            raise IndexError(f"Invalid index {self.dim} for tensor of size {t.shape}")
        size = t.shape[self.dim]
        count = _count(self.amount, size)
        if not count:
            return default_mask
        left = topk(self._scores(t), size - count).indices
        axis = self.dim % t.dim()
        mask = zeros_like(t, requires_grad=False)
        mask[tuple(left if i == axis else slice(None) for i in range(t.dim()))] = 1
        return mask * default_mask.to(mask.dtype)


class RandomStructured(_Structured):
    """Prunes any slices along `dim`; `amount`: a part, or how many."""

    def __init__(self, amount: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.dim = amount, dim

    def _scores(self, t: Any) -> Any:
        return rand(t.shape[self.dim])


class LnStructured(_Structured):
    """Prunes the slices of the smallest n-norm along `dim`; `amount`: a part, or how many."""

    def __init__(self, amount: Any, n: Any, dim: int = -1) -> None:
        _check_amount(amount)
        self.amount, self.n, self.dim = amount, n, dim

    def _scores(self, t: Any) -> Any:
        axes = [i for i in range(t.dim()) if i != self.dim % t.dim()]
        return norm(t, p=self.n, dim=axes)


class CustomFromMask(BasePruningMethod):
    """Prunes by a given mask."""

    PRUNING_TYPE = "global"

    def __init__(self, mask: Any) -> None:
        self.mask = mask

    def compute_mask(self, t: Any, default_mask: Any) -> Any:
        if default_mask.shape != self.mask.shape:
            raise AssertionError(
                f"default_mask shape {default_mask.shape} must match self.mask shape "
                f"{self.mask.shape}"
            )
        return default_mask * self.mask.to(default_mask.dtype)


# ---------------------------------------------------------------- on modules


def identity(module: Any, name: str) -> Any:
    """Make the parameter and the mask for pruning, which prunes nothing."""
    Identity.apply(module, name)
    return module


def random_unstructured(module: Any, name: str, amount: Any) -> Any:
    """Prune any elements; `amount`: a part from 0 to 1, or how many if it is an integer."""
    RandomUnstructured.apply(module, name, amount=amount)
    return module


def l1_unstructured(module: Any, name: str, amount: Any, importance_scores: Any = None) -> Any:
    """Prune the elements that are smallest, or of the smallest scores; `amount`: a part or how many.

    >>> import compat as torch
    >>> layer = torch.nn.Linear(2, 2, bias=False)
    >>> layer.weight.data = torch.tensor([[1.0, -2.0], [3.0, -4.0]])
    >>> l1_unstructured(layer, "weight", 0.5).weight.tolist()
    [[0.0, -0.0], [3.0, -4.0]]
    >>> list(layer.state_dict())
    ['weight_orig', 'weight_mask']
    """
    L1Unstructured.apply(module, name, amount=amount, importance_scores=importance_scores)
    return module


def random_structured(module: Any, name: str, amount: Any, dim: int) -> Any:
    """Prune any slices along `dim`; `amount`: a part or how many."""
    RandomStructured.apply(module, name, amount=amount, dim=dim)
    return module


def ln_structured(
    module: Any, name: str, amount: Any, n: Any, dim: int, importance_scores: Any = None
) -> Any:
    """Prune the slices along `dim` whose n-norm is smallest; `amount`: a part or how many."""
    LnStructured.apply(
        module, name, amount=amount, n=n, dim=dim, importance_scores=importance_scores
    )
    return module


def custom_from_mask(module: Any, name: str, mask: Any) -> Any:
    """Prune where the mask is zero."""
    CustomFromMask.apply(module, name, mask=mask)
    return module


def global_unstructured(
    parameters: Any, pruning_method: Any, importance_scores: Any = None, **kwargs: Any
) -> None:
    """Prune several tensors, given as pairs of module and name, as if they were one.

    Raises: TypeError: these are no pairs, or the method is not "unstructured".
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    given = {} if importance_scores is None else importance_scores
    if not isinstance(given, dict):
        raise TypeError("global_unstructured(): importance_scores must be of type dict")
    pairs = list(parameters)
    tensors = [getattr(module, name) for module, name in pairs]
    scores = [given.get(pair, t) for pair, t in zip(pairs, tensors, strict=True)]
    masks = [
        getattr(module, name + "_mask", ones_like(t, requires_grad=False))
        for (module, name), t in zip(pairs, tensors, strict=True)
    ]
    method = pruning_method(**kwargs)
    method._tensor_name = "temp"
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
            f"{pruning_method} of type {method.PRUNING_TYPE}"
        )
    with modes.no_grad():
        flat = [cat([x.reshape(-1) for x in xs]) for xs in (scores, masks)]
        mask = PruningContainer(method).compute_mask(*flat)
    start = 0
    for (module, name), t in zip(pairs, tensors, strict=True):
        custom_from_mask(module, name, mask[start : start + t.numel()].reshape(t.shape))
        start += t.numel()


def remove(module: Any, name: str) -> Any:
    """Make the pruned tensor an ordinary parameter, with its zeros.

    Raises: ValueError: it is not pruned.
    """
    for number in _hook_numbers(module, name):
        module._forward_pre_hooks.pop(number).remove(module)
        return module
    raise ValueError(
        f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
    )


def is_pruned(module: Any) -> bool:
    """Whether a tensor of the module, or of one below it, is pruned."""
    return any(
        isinstance(hook, BasePruningMethod)
        for part in module.modules()
        for hook in part._forward_pre_hooks.values()
    )
