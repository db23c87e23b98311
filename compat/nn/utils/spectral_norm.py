"""``weight / sigma``, sigma its largest singular value, computed by a hook before `forward`."""

from __future__ import annotations

from typing import Any

from ...autograd import modes
from ...ops.matrix import dot, mv
from ...parameter import Parameter
from ..conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..functional import normalize
from ..uninitialized import is_lazy
from .weight_norm import find_hook


def check_iterations(count: int) -> None:
    """Raises: ValueError: `count` is not positive."""
    if count <= 0:
        raise ValueError(
            f"Expected n_power_iterations to be positive, but got n_power_iterations={count}"
        )


def output_axis(module: Any, dim: int | None) -> int:
    """`dim`, by default the axis of the output channels of the weight."""
    if dim is not None:
        return dim
    return int(isinstance(module, ConvTranspose1d | ConvTranspose2d | ConvTranspose3d))


def as_matrix(weight: Any, dim: int) -> Any:
    """The weight as a matrix, whose rows are its slices along `dim`."""
    if dim != 0:
        weight = weight.permute(dim, *(i for i in range(weight.dim()) if i != dim))
    return weight.reshape(weight.size(0), -1)


def advance(matrix: Any, u: Any, v: Any, count: int, eps: float) -> None:
    """Steps of the power method: v becomes the unit vector of ``matrix u``, then u from v."""
    matrix = matrix.detach()
    with modes.no_grad():
        for _ in range(count):
            v.copy_(normalize(mv(matrix, u), dim=0, eps=eps))
            u.copy_(normalize(mv(matrix.mH, v), dim=0, eps=eps))


class SpectralNorm:
    """The hook that computes the weight before every call of `forward`.

    u and v are brought nearer to the first singular vectors at every call in training.

    Raises: ValueError: `n_power_iterations` is not positive.
    """

    def __init__(
        self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12
    ) -> None:
        check_iterations(n_power_iterations)
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """The weight as a matrix, whose rows are its slices along `dim`."""
        return as_matrix(weight, self.dim)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The weight, from the parameter in its place."""
        weight, u, v = (getattr(module, self.name + end) for end in ("_orig", "_u", "_v"))
        matrix = as_matrix(weight, self.dim)
        if do_power_iteration:
            advance(matrix.t(), u, v, self.n_power_iterations, self.eps)
            u, v = u.clone(), v.clone()  # the next call writes to them
        return weight / dot(u, mv(matrix, v))

    @staticmethod
    def apply(
        module: Any, name: str, n_power_iterations: int, dim: int, eps: float
    ) -> SpectralNorm:
        """Put another parameter and two buffers in the place of the weight.

        Raises: RuntimeError: that was done before. ValueError: there is no weight, or it has no shape.
        """
        if find_hook(module, SpectralNorm, name) is not None:
            raise RuntimeError(
                f"Cannot register two spectral_norm hooks on the same parameter {name}"
            )
        hook = SpectralNorm(name, n_power_iterations, dim, eps)
        weight = module._parameters[name]
        if weight is None:
            raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
        if is_lazy(weight):
            raise ValueError(
                "The module passed to `SpectralNorm` can't have uninitialized parameters. Call it once "
                "before applying spectral normalization"
            )
        with modes.no_grad():
            sizes = as_matrix(weight, dim).size()
            u, v = (normalize(weight.new_empty(n).normal_(), dim=0, eps=eps) for n in sizes)
        delattr(module, name)
        module.register_parameter(name + "_orig", weight)
        setattr(module, name, weight.data)
        module.register_buffer(name + "_u", u)
        module.register_buffer(name + "_v", v)
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Any) -> None:
        """Make the weight a parameter again."""
        with modes.no_grad():
            weight = self.compute_weight(module, do_power_iteration=False)
        for end in ("", "_u", "_v", "_orig"):
            delattr(module, self.name + end)
        module.register_parameter(self.name, Parameter(weight.detach()))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, module.training))


def spectral_norm(
    module: Any,
    name: str = "weight",
    n_power_iterations: int = 1,
    eps: float = 1e-12,
    dim: int | None = None,
) -> Any:
    """Replace ``module.weight`` by ``weight / sigma``; `parametrizations` has a newer form.

    `dim`: the axis of the outputs.

    Raises: RuntimeError: that was done before. ValueError: `n_power_iterations` is not positive.
    """
    SpectralNorm.apply(module, name, n_power_iterations, output_axis(module, dim), eps)
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight an ordinary parameter again.

    Raises: ValueError: it is one.
    """
    number = find_hook(module, SpectralNorm, name)
    if number is None:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    module._forward_pre_hooks[number].remove(module)
    del module._forward_pre_hooks[number]
    return module


__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]
