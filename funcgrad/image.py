"""Images in another size, or moved, under the names of ``jax.image``.

Every axis has a matrix of weights: an element of the result is a sum of those of the image, each
weighed by a kernel of its distance. `funcgrad.nn.resample` has PyTorch's interpolation.

>>> from funcgrad import image
>>> image.resize(np.array([0.0, 4.0]), (4,), "linear").tolist()
[0.0, 1.0, 3.0, 4.0]
"""

from __future__ import annotations

import enum
import operator
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import numpy as fnp
from .algebra import concrete_namespace
from .core import aval_of
from .errors import ArgumentError, ShapeError, where
from .nn.resample import keys_kernel
from .numpy._arguments import array_of, axes_of, beside, converted, shape_of
from .ops.groups import group_sum

__all__ = ["ResizeMethod", "resize", "scale_and_translate"]


class ResizeMethod(enum.Enum):
    """How elements are weighed, by name; `from_string` knows the other names.

    >>> ResizeMethod.from_string("bicubic")
    <ResizeMethod.CUBIC: 4>
    """

    NEAREST = 0
    LINEAR = 1
    LANCZOS3 = 2
    LANCZOS5 = 3
    CUBIC = 4
    CUBIC_PYTORCH = 5
    AREA = 6

    @staticmethod
    def from_string(s: str) -> ResizeMethod:
        """Raises: ArgumentError: there is no such method."""
        try:
            return _NAMES[s]
        except (KeyError, TypeError):
            raise ArgumentError(
                f"image: method={s!r}; need a ResizeMethod or one of {sorted(_NAMES)}{where()}"
            ) from None


_NAMES = {
    "nearest": ResizeMethod.NEAREST,
    **dict.fromkeys(["linear", "bilinear", "trilinear", "triangle"], ResizeMethod.LINEAR),
    "lanczos3": ResizeMethod.LANCZOS3,
    "lanczos5": ResizeMethod.LANCZOS5,
    **dict.fromkeys(["cubic", "bicubic", "tricubic"], ResizeMethod.CUBIC),
    **dict.fromkeys(["cubic-pytorch", "bicubic-pytorch"], ResizeMethod.CUBIC_PYTORCH),
    "area": ResizeMethod.AREA,
}


# ---------------------------------------------------------------- kernels


def _triangle(d: Any) -> Any:
    return fnp.maximum(1 - d, 0)


def _lanczos(radius: int) -> Callable[[Any], Any]:
    return lambda d: fnp.where(d < radius, fnp.sinc(d) * fnp.sinc(d / radius), 0)


_KERNELS: dict[ResizeMethod, Callable[[Any], Any]] = {
    ResizeMethod.LINEAR: _triangle,
    ResizeMethod.LANCZOS3: _lanczos(3),
    ResizeMethod.LANCZOS5: _lanczos(5),
    ResizeMethod.CUBIC: lambda d: keys_kernel(d, -0.5),
    ResizeMethod.CUBIC_PYTORCH: lambda d: keys_kernel(d, -0.75),
}
_REACH = 2  # of Keys's kernel
_LEAST = 1000 * float(np.finfo(np.float32).eps)  # a sum of weights that counts as more than nothing


# ---------------------------------------------------------------- weights


def _weights(n: int, m: int, scale: Any, shift: Any, method: ResizeMethod, antialias: bool) -> Any:
    """How much each of `n` elements (rows) counts for each of `m` of the result (columns)."""
    step = 1 / scale
    left = (beside(step, np.arange(m, dtype=aval_of(step).dtype)) - shift) * step
    at = left + (step / 2 - 0.5)
    if method is ResizeMethod.AREA:
        return _inside(at, n, _normed(_overlaps(left, step, n)))
    width = fnp.maximum(step, 1) if antialias else 1
    around = _REACH if method is ResizeMethod.CUBIC_PYTORCH else 0
    places = np.arange(-around, n + around)
    column = beside(at, places.astype(aval_of(at).dtype)[:, None])
    weights = _KERNELS[method](fnp.abs(at - column) / width)
    if not around:
        return _inside(at, n, _normed(weights))
    # Beyond an edge its element goes on.
    edges = beside(at, np.clip(places, 0, n - 1))
    return _normed(group_sum(weights, edges, count=n))


def _overlaps(left: Any, step: Any, n: int) -> Any:
    """How much of an element of the image lies in one of the result."""
    mine = beside(left, np.arange(n, dtype=aval_of(left).dtype)[:, None])
    return fnp.maximum(fnp.minimum(left + step, mine + 1) - fnp.maximum(left, mine), 0)


def _normed(weights: Any) -> Any:
    """Columns that sum to 1, or that are 0 where they sum to nothing."""
    total = fnp.sum(weights, axis=0, keepdims=True)
    some = fnp.abs(total) > _LEAST
    return fnp.where(some, weights / fnp.where(some, total, 1), 0)


def _inside(at: Any, n: int, weights: Any) -> Any:
    """The weights, 0 for what stands outside of the image."""
    return fnp.where((at >= -0.5) & (at <= n - 0.5), weights, 0)


def _weighed(image: Any, axis: int, weights: Any) -> Any:
    """The image with its axis summed up by the weights."""
    real = np.empty(0, aval_of(image).dtype).real.dtype
    letters = list(range(image.ndim))
    out = [image.ndim if i == axis else i for i in letters]
    return fnp.einsum(image, letters, converted(weights, real), [axis, image.ndim], out)


# ---------------------------------------------------------------- the public functions


def _arguments(name: str, image: Any, shape: Any, method: Any) -> tuple[Any, Any, ResizeMethod]:
    image = array_of(image)
    try:
        shape = shape_of(shape)
    except TypeError:
        raise ArgumentError(
            f"image.{name}: shape must be integers that are known while tracing, found "
            f"{shape!r}{where()}"
        ) from None
    if len(shape) != image.ndim or min(shape, default=0) < 0:
        raise ShapeError(
            f"image.{name}: shape={shape} for {aval_of(image)}; need a length for each axis{where()}"
        )
    if not isinstance(method, ResizeMethod):
        method = ResizeMethod.from_string(method)
    if method is not ResizeMethod.NEAREST and aval_of(image).dtype.kind not in "fc":
        image = converted(image, np.float64)
    for axis, (n, m) in enumerate(zip(image.shape, shape, strict=True)):
        if m and not n:
            raise ShapeError(
                f"image.{name}: axis {axis} of the image is empty; cannot make {m} elements{where()}"
            )
    return image, shape, method


def resize(
    image: Any,
    shape: Sequence[int],
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """The image with the lengths `shape`: element i of m stands at ``(i + 1/2) n / m - 1/2`` of n.

    `method`: "nearest", "linear", "cubic" (Keys's kernel with a = -1/2), "lanczos3", "lanczos5",
    "area" (the mean over what an element covers), or "cubic-pytorch" (without `antialias` a is -3/4
    and the elements at the edges go on). `antialias`: where an axis gets shorter, kernels get as
    much wider. `precision` changes nothing.

    Shapes: ``image: (*a) -> shape``, as many axes.   Dtypes: numbers; integers give float64, and
    themselves for the nearest.
    Derivative: linear.
    Raises: ShapeError: `shape` has more or fewer axes, or an axis is empty. ArgumentError: an
    unknown method.
    Source: JAX reference, ``jax.image.resize``; Keys, "Cubic convolution interpolation for digital
    image processing", IEEE TASSP 29 (1981); Duchon, "Lanczos filtering in one and two dimensions",
    J. Appl. Meteorol. 18 (1979).

    >>> resize(np.array([[1.0, 2.0, 5.0, 4.0]]), (1, 2), "area").tolist()
    [[1.5, 4.5]]
    """
    image, shape, method = _arguments("resize", image, shape, method)
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    for axis, (n, m) in enumerate(zip(image.shape, shape, strict=True)):
        if n == m:
            continue
        if method is ResizeMethod.NEAREST:
            places = (2 * np.arange(m) + 1) * n // (2 * m or 1)
            image = fnp.take(image, beside(image, places), axis=axis)
            continue
        one = concrete_namespace(image).ones((), dtype=np.float64)
        scale = one * (m / n if m else 1.0)
        image = _weighed(image, axis, _weights(n, m, scale, 0.0, method, antialias))
    return image


def scale_and_translate(
    image: Any,
    shape: Sequence[int],
    spatial_dims: Sequence[int],
    scale: Any,
    translation: Any,
    method: str | ResizeMethod,
    antialias: bool = True,
    precision: Any = None,
) -> Any:
    """The image under ``x -> scale x + translation`` along the axes `spatial_dims`.

    Element i of an axis stands at ``i + 1/2``, in the image and in the result; what comes from
    outside of the image is 0. `shape`, `method`, `antialias` and `precision`: as in `resize`, without
    "nearest". With ``scale = (m - 1) / (n - 1)``, ``translation = (1 - scale) / 2`` corners stay
    corners.

    Shapes: ``image: (*a), scale: (k,), translation: (k,) -> shape``, which is that of the image along
    all but the k axes.   Dtypes: numbers; integers give float64.
    Derivative: linear in the image; by `scale` and `translation` piece by piece, where kernels have
    corners the middle of both sides, and 0 for what comes from outside.
    Raises: as `resize`; "nearest".
    Source: JAX reference, ``jax.image.scale_and_translate``.

    >>> x = np.array([1.0, 2.0, 3.0])
    >>> scale_and_translate(x, (4,), (0,), np.array([1.0]), np.array([0.5]), "linear").tolist()
    [1.0, 1.5, 2.5, 3.0]
    """
    name = "scale_and_translate"
    image, shape, method = _arguments(name, image, shape, method)
    if method is ResizeMethod.NEAREST:
        raise ArgumentError(f"image.{name}: method 'nearest' is not supported{where()}")
    if method is ResizeMethod.CUBIC_PYTORCH and antialias:
        method = ResizeMethod.CUBIC
    given = list(spatial_dims) if isinstance(spatial_dims, Sequence) else [spatial_dims]
    axes_of(name, given, image.ndim)  # each there, and once
    dims = [operator.index(d) % image.ndim for d in given]
    scale, translation = (
        _one_each(name, word, x, dims)
        for word, x in (("scale", scale), ("translation", translation))
    )
    for axis, (n, m) in enumerate(zip(image.shape, shape, strict=True)):
        if axis not in dims and n != m:
            raise ShapeError(
                f"image.{name}: axis {axis} of {n} elements is not one of spatial_dims, but shape has "
                f"{m} there{where()}"
            )
    for k, axis in enumerate(dims):
        n, m = image.shape[axis], shape[axis]
        weights = _weights(n, m, scale[k], translation[k], method, antialias)
        image = _weighed(image, axis, weights)
    return image


def _one_each(name: str, word: str, x: Any, dims: Sequence[int]) -> Any:
    x = array_of(x)
    if x.shape != (len(dims),) or aval_of(x).dtype.kind not in "iuf":
        raise ShapeError(
            f"image.{name}: {word} is {aval_of(x)}; need a real number for each of {len(dims)} "
            f"spatial_dims{where()}"
        )
    return x if aval_of(x).dtype.kind == "f" else converted(x, np.float64)
