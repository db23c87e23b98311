"""autograd's derivatives: by `argnum`, of values of one element in any shape."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .. import numpy as fnp
from .. import tree
from ..core import aval_of
from ..errors import ArgumentError, NonScalarOutputError, where
from ..transforms.checkpoint import checkpoint
from ..transforms.derivatives import jacrev
from . import core
from .vspaces import vspace
from .wrap_util import unary_to_nary

__all__ = [
    "checkpoint",
    "deriv",
    "elementwise_grad",
    "grad",
    "grad_and_aux",
    "grad_named",
    "hessian",
    "hessian_tensor_product",
    "hessian_vector_product",
    "holomorphic_grad",
    "jacobian",
    "make_ggnvp",
    "make_hvp",
    "make_jvp",
    "make_jvp_reversemode",
    "make_vjp",
    "multigrad_dict",
    "tensor_jacobian_product",
    "value_and_grad",
    "vector_jacobian_product",
]

Function = Callable[..., Any]

make_vjp = unary_to_nary(core.make_vjp)
make_jvp = unary_to_nary(core.make_jvp)


def _value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    pullback, ans = core.make_vjp(fun, x)
    space = vspace(ans)
    if space.size != 1:
        raise NonScalarOutputError(
            f"grad: the function must return one real number, found {space}: sum it, or use "
            f"jacobian, elementwise_grad or holomorphic_grad{where()}"
        )
    return ans, pullback(space.ones())


@unary_to_nary
def value_and_grad(fun: Function, x: Any) -> tuple[Any, Any]:
    """``value_and_grad(fun, argnum)(*args) == (fun(*args), grad(fun, argnum)(*args))``.

    Raises: NonScalarOutputError: the value is not one real number.

    >>> value, slope = value_and_grad(lambda a, x: a * x**2, 1)(2.0, 3.0)
    >>> float(value), float(slope)
    (18.0, 12.0)
    """
    return _value_and_grad(fun, x)


@unary_to_nary
def grad(fun: Function, x: Any) -> Any:
    """The gradient of a function of one real number, by the argument `argnum`, or by several (a tuple).

    The result may have any shape with one element. A complex argument gets ``df/dx - i df/dy``.

    Raises: NonScalarOutputError: the value is not one real number. ArgumentError: there is no such
    argument, or it is no floating array.

    >>> float(grad(lambda a, x: a * x**2, argnum=1)(2.0, 3.0))
    12.0
    """
    return _value_and_grad(fun, x)[1]


@unary_to_nary
def elementwise_grad(fun: Function, x: Any) -> Any:
    """The gradient of the sum of the results: the derivative of what works element by element.

    Raises: NonScalarOutputError: they are complex.

    >>> import numpy as np
    >>> elementwise_grad(np.square)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    pullback, ans = core.make_vjp(fun, x)
    space = vspace(ans)
    if space.iscomplex:
        raise NonScalarOutputError(
            f"elementwise_grad: the function must return real numbers, found {space}{where()}"
        )
    return pullback(space.ones())


@unary_to_nary
def deriv(fun: Function, x: Any) -> Any:
    """The derivative along ones, in forward mode.

    >>> float(deriv(lambda x: x**3)(2.0))
    12.0
    """
    return core.make_jvp(fun, x)(vspace(x).ones())[1]


@unary_to_nary
def jacobian(fun: Function, x: Any) -> Any:
    """The Jacobian, in reverse mode.

    Shapes: that of the result, followed by that of the argument.

    >>> import numpy as np
    >>> jacobian(lambda x: x * x[0])(np.array([1.0, 2.0]))
    array([[2., 0.],
           [2., 1.]])
    """
    return jacrev(fun)(x)


@unary_to_nary
def holomorphic_grad(fun: Function, x: Any) -> Any:
    """The complex derivative ``f'(z)`` of a holomorphic function, as ``d Re f/dx - i d Re f/dy``.

    >>> complex(holomorphic_grad(lambda z: z**2)(1.0 + 2.0j))
    (2+4j)
    """
    return grad(lambda z: fnp.real(fun(z)))(x)


def grad_named(fun: Function, argname: str) -> Function:
    """The gradient by the argument of a name, which is passed by position."""
    return grad(fun, list(inspect.signature(fun).parameters).index(argname))


@unary_to_nary
def hessian(fun: Function, x: Any) -> Any:
    """The second derivatives.

    Shapes: that of the result, followed by that of the argument twice.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] * x[1] ** 2)(np.array([1.0, 3.0]))
    array([[0., 6.],
           [6., 2.]])
    """
    return jacobian(jacobian(fun))(x)


@unary_to_nary
def make_hvp(fun: Function, x: Any) -> tuple[Function, Any]:
    """``(v -> H v, gradient)`` of a function of one real number."""
    return core.make_vjp(grad(fun), x)


def hessian_tensor_product(fun: Function, argnum: int = 0) -> Function:
    """``hvp(*args, v)``: the second derivatives by `argnum` times v, which has that argument's shape.

    >>> import numpy as np
    >>> hessian_tensor_product(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 10.0]))
    array([  6., 120.])
    """
    gradient = grad(fun, argnum)

    def along(*args: Any, **kwargs: Any) -> Any:
        *args, v = args  # type: ignore[assignment]
        return fnp.tensordot(gradient(*args, **kwargs), v, axes=fnp.ndim(v))

    return grad(along, argnum)  # in reverse mode: what users give is pullbacks


hessian_vector_product = hessian_tensor_product


def tensor_jacobian_product(fun: Function, argnum: int = 0) -> Function:
    """``product(*args, v)``: v times the Jacobian by `argnum`, over all axes of v.

    >>> import numpy as np
    >>> tensor_jacobian_product(lambda x: x**2)(np.array([1.0, 2.0]), np.array([10.0, 1.0]))
    array([20.,  4.])
    """

    def contracted(*args: Any, **kwargs: Any) -> Any:
        *args, v = args  # type: ignore[assignment]
        return fnp.tensordot(v, fun(*args, **kwargs), axes=fnp.ndim(v))

    return jacobian(contracted, argnum)


vector_jacobian_product = tensor_jacobian_product


@unary_to_nary
def make_jvp_reversemode(fun: Function, x: Any) -> Function:
    """``v -> J v``, by the pullback of the pullback."""
    pullback, ans = core.make_vjp(fun, x)
    return core.make_vjp(pullback, vspace(ans).zeros())[0]


def _half_squares(x: Any) -> Any:
    return 0.5 * fnp.sum(x**2, axis=-1)


def make_ggnvp(f: Function, g: Function = _half_squares, f_argnum: int = 0) -> Function:
    """``make_ggnvp(f, g)(*args)``: ``v -> J^T H J v``, J of `f`, H the second derivatives of `g` there.

    Source: Schraudolph, "Fast curvature matrix-vector products", Neural Computation 14 (2002).

    >>> import numpy as np
    >>> make_ggnvp(lambda x: 3.0 * x)(np.ones(2))(np.array([1.0, 2.0]))
    array([ 9., 18.])
    """

    @unary_to_nary
    def gauss_newton(fun: Function, x: Any) -> Function:
        pullback, value = core.make_vjp(fun, x)
        curved, _ = core.make_vjp(grad(g), value)
        along = core.make_jvp(fun, x)
        return lambda v: pullback(curved(along(v)[1]))

    return gauss_newton(f, f_argnum)


@unary_to_nary
def grad_and_aux(fun: Function, x: Any) -> tuple[Any, Any]:
    """The gradient of the first of two results, and the second as it is."""
    pullback, (ans, aux) = core.make_vjp(lambda x: tuple(fun(x)), x)
    zeros = tree.map(lambda a: fnp.zeros(aval_of(a).shape, aval_of(a).dtype), aux)
    return pullback((vspace(ans).ones(), zeros)), aux


def multigrad_dict(fun: Function) -> Function:
    """The gradients by all arguments, as a dict by their names.

    Raises: ArgumentError: `fun` takes `*args` or `**kwargs`, which have no names.

    >>> {k: float(g) for k, g in multigrad_dict(lambda x, y=2.0: x * y)(3.0).items()}
    {'x': 2.0, 'y': 3.0}
    """
    signature = inspect.signature(fun)
    unnamed = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    if any(p.kind in unnamed for p in signature.parameters.values()):
        raise ArgumentError(f"multigrad_dict: arguments of {fun!r} have no names{where()}")

    def of_named(arguments: dict[str, Any]) -> Any:
        bound = signature.bind_partial()
        bound.arguments.update(arguments)
        return fun(*bound.args, **bound.kwargs)

    def gradients(*args: Any, **kwargs: Any) -> dict[str, Any]:
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return grad(of_named)(dict(bound.arguments))

    return gradients
