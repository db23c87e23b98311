"""Minima by the older functions of ``scipy.optimize``, which give the place itself: `fmin`, `brent`, ..

Where nothing is traced they are SciPy's, with funcgrad's gradient in place of differences; under a
transform they are `minimize` and `minimize_scalar`, and have its derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.arguments import require_callable
from ...transforms.derivatives import grad
from .._arrays import host_only
from .._programs import tracing
from .implicit import extras, point, refuse, require_constants, scipy
from .minima import minimize, minimize_scalar, number_of

Function = Callable[..., Any]

_EPS = float(np.finfo(float).eps)
_GOOD = float(np.sqrt(_EPS))


def _minimum(
    name: str,
    f: Function,
    x0: Any,
    args: Any,
    method: str,
    options: dict[str, Any],
    more: dict[str, Any],
    fprime: Function | None = None,
) -> Any:
    """Under a transform: the result of `minimize`. `more` is what it has not."""
    refuse(name, "under transforms", **more)
    options = {k: v for k, v in options.items() if v is not None}
    return minimize(f, x0, args, method, jac=fprime, options=options)


def _slope(f: Function, args: Any, fprime: Function | None) -> Function:
    """The gradient for SciPy, which gives it the further arguments."""
    if fprime is not None:
        return fprime
    further = extras(args)
    exact = grad(lambda x: number_of(f(x, *further)))
    return lambda x, *_: exact(x)


@host_only
def fmin(
    func: Function,
    x0: Any,
    args: Any = (),
    xtol: float = 1e-4,
    ftol: float = 1e-4,
    maxiter: int | None = None,
    maxfun: int | None = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    initial_simplex: Any = None,
) -> Any:
    """The `x` near `x0` at which ``func(x, *args)`` is least, by Nelder and Mead's simplices.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`; it is as exact as the minimum, so lower `xtol` and `ftol`.
    Raises: as `minimize`. ArgumentError: `full_output`, `retall` or `callback` under a transform.
    Source: Nelder & Mead, "A simplex method for function minimization", 1965; SciPy reference,
    ``scipy.optimize.fmin``.

    >>> import funcgrad
    >>> at = lambda c: fmin(lambda x: (x[0] - c) ** 2, [0.0], xtol=1e-9, ftol=1e-9, disp=0)
    >>> funcgrad.jacrev(at)(3.0).round(6).tolist()
    [1.0]
    """
    require_callable("fmin", func)
    if not tracing():
        return scipy("fmin").fmin(
            func, x0, extras(args), xtol, ftol, maxiter, maxfun, full_output, disp, retall,
            callback, initial_simplex,
        )  # fmt: skip
    options = {
        "xatol": xtol, "fatol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp,
        "initial_simplex": initial_simplex,
    }  # fmt: skip
    more = {"full_output": full_output, "retall": retall, "callback": callback}
    return _minimum("fmin", func, x0, args, "Nelder-Mead", options, more).x


@host_only
def fmin_powell(
    func: Function,
    x0: Any,
    args: Any = (),
    xtol: float = 1e-4,
    ftol: float = 1e-4,
    maxiter: int | None = None,
    maxfun: int | None = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    direc: Any = None,
) -> Any:
    """The `x` near `x0` at which ``func(x, *args)`` is least, by Powell's directions.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `fmin`.
    Source: Powell, The Computer Journal 7 (1964) 155; SciPy reference, ``scipy.optimize.fmin_powell``.

    >>> fmin_powell(lambda x: (x[0] - 3.0) ** 2 + x[1] ** 2, [0.0, 1.0], disp=0).round(6).tolist()
    [3.0, 0.0]
    """
    require_callable("fmin_powell", func)
    if not tracing():
        return scipy("fmin_powell").fmin_powell(
            func, x0, extras(args), xtol, ftol, maxiter, maxfun, full_output, disp, retall,
            callback, direc,
        )  # fmt: skip
    options = {
        "xtol": xtol, "ftol": ftol, "maxiter": maxiter, "maxfev": maxfun, "disp": disp, "direc": direc,
    }  # fmt: skip
    more = {"full_output": full_output, "retall": retall, "callback": callback}
    return _minimum("fmin_powell", func, x0, args, "Powell", options, more).x


@host_only
def fmin_bfgs(
    f: Function,
    x0: Any,
    fprime: Function | None = None,
    args: Any = (),
    gtol: float = 1e-5,
    norm: float = np.inf,
    epsilon: float = _GOOD,
    maxiter: int | None = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    xrtol: float = 0,
    c1: float = 1e-4,
    c2: float = 0.9,
    hess_inv0: Any = None,
) -> Any:
    """The `x` near `x0` at which ``f(x, *args)`` is least, by Broyden, Fletcher, Goldfarb and Shanno's
    method. The gradient is funcgrad's if `fprime` is not given, so `epsilon` changes nothing.

    Shapes: ``x0: (n), f: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `fmin`.
    Source: Nocedal & Wright, "Numerical Optimization", Springer 2006; SciPy reference,
    ``scipy.optimize.fmin_bfgs``.

    >>> fmin_bfgs(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), disp=0).round(6).tolist()
    [3.0, 3.0]
    """
    require_callable("fmin_bfgs", f)
    if not tracing():
        return scipy("fmin_bfgs").fmin_bfgs(
            f, point("fmin_bfgs", "x0", x0), _slope(f, args, fprime), extras(args), gtol, norm, epsilon,
            maxiter, full_output, disp, retall, callback, xrtol, c1, c2, hess_inv0,
        )  # fmt: skip
    options = {
        "gtol": gtol, "norm": norm, "maxiter": maxiter, "disp": disp, "xrtol": xrtol, "c1": c1,
        "c2": c2, "hess_inv0": hess_inv0,
    }  # fmt: skip
    more = {"full_output": full_output, "retall": retall, "callback": callback}
    return _minimum("fmin_bfgs", f, x0, args, "BFGS", options, more, fprime).x


@host_only
def fmin_cg(
    f: Function,
    x0: Any,
    fprime: Function | None = None,
    args: Any = (),
    gtol: float = 1e-5,
    norm: float = np.inf,
    epsilon: float = _GOOD,
    maxiter: int | None = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    c1: float = 1e-4,
    c2: float = 0.4,
) -> Any:
    """The `x` near `x0` at which ``f(x, *args)`` is least, by conjugate gradients; as `fmin_bfgs` in
    everything else.

    Shapes: ``x0: (n), f: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `fmin`.
    Source: Nocedal & Wright, "Numerical Optimization", Springer 2006; SciPy reference,
    ``scipy.optimize.fmin_cg``.

    >>> fmin_cg(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), disp=0).round(6).tolist()
    [3.0, 3.0]
    """
    require_callable("fmin_cg", f)
    if not tracing():
        return scipy("fmin_cg").fmin_cg(
            f, point("fmin_cg", "x0", x0), _slope(f, args, fprime), extras(args), gtol, norm, epsilon,
            maxiter, full_output, disp, retall, callback, c1, c2,
        )  # fmt: skip
    options = {
        "gtol": gtol, "norm": norm, "maxiter": maxiter, "disp": disp, "c1": c1, "c2": c2,
    }  # fmt: skip
    more = {"full_output": full_output, "retall": retall, "callback": callback}
    return _minimum("fmin_cg", f, x0, args, "CG", options, more, fprime).x


@host_only
def fmin_l_bfgs_b(
    func: Function,
    x0: Any,
    fprime: Function | None = None,
    args: Any = (),
    approx_grad: Any = 0,
    bounds: Any = None,
    m: int = 10,
    factr: float = 1e7,
    pgtol: float = 1e-5,
    epsilon: float = 1e-8,
    maxfun: int = 15000,
    maxiter: int = 15000,
    callback: Any = None,
    maxls: int = 20,
) -> tuple[Any, Any, dict[str, Any]]:
    """The `x` near `x0`, within `bounds`, at which ``func(x, *args)`` is least, its value there, and a
    dict with ``grad``, ``task``, ``funcalls``, ``nit``, ``warnflag``.

    `func` gives the pair of value and gradient, unless `fprime` or `approx_grad` is given. With
    `approx_grad` the gradient is funcgrad's, so `epsilon` changes nothing.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n), ()``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `minimize`. ArgumentError: `callback` under a transform.
    Source: Byrd, Lu, Nocedal & Zhu, SIAM J. Sci. Comput. 16 (1995) 1190; SciPy reference,
    ``scipy.optimize.fmin_l_bfgs_b``.

    >>> x, least, _ = fmin_l_bfgs_b(
    ...     lambda x: (x[0] - 3.0) ** 2, [0.0], approx_grad=1, bounds=[(None, 2.0)]
    ... )
    >>> x.tolist(), float(least)
    ([2.0], 1.0)
    """
    require_callable("fmin_l_bfgs_b", func)
    pair = fprime is None and not approx_grad
    options = {
        "maxcor": m, "ftol": factr * _EPS, "gtol": pgtol, "maxfun": maxfun, "maxiter": maxiter,
        "maxls": maxls,
    }  # fmt: skip
    if tracing():
        refuse("fmin_l_bfgs_b", "under transforms", callback=callback)
    found = minimize(
        func, x0, args, "L-BFGS-B", True if pair else fprime, bounds=bounds, callback=callback,
        options=options,
    )  # fmt: skip
    about = {
        "grad": found.jac, "task": found.message, "funcalls": found.nfev, "nit": found.nit,
        "warnflag": found.status,
    }  # fmt: skip
    return found.x, found.fun, about


def _number(name: str, f: Function, args: Any, full_output: Any, **options: Any) -> Any:
    """Under a transform: the place that `minimize_scalar` finds."""
    refuse(name, "under transforms", full_output=full_output)
    return minimize_scalar(f, args=args, **options).x


@host_only
def fminbound(
    func: Function,
    x1: float,
    x2: float,
    args: Any = (),
    xtol: float = 1e-5,
    maxfun: int = 500,
    full_output: Any = 0,
    disp: Any = 1,
) -> Any:
    """The number between `x1` and `x2` at which ``func(x, *args)`` is least, by Brent's method.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `minimize_scalar`: 0 at a bound, and none by `x1` and `x2`.
    Raises: as `minimize_scalar`. ArgumentError: `full_output` or traced bounds under a transform.
    Source: SciPy reference, ``scipy.optimize.fminbound``.

    >>> import funcgrad
    >>> at = lambda c: fminbound(lambda x: (x - c) ** 2, 0.0, 9.0, xtol=1e-9)
    >>> float(funcgrad.grad(at)(2.0).round(6))
    1.0
    """
    require_callable("fminbound", func)
    if not tracing():
        solver = scipy("fminbound").fminbound
        return solver(func, x1, x2, extras(args), xtol, maxfun, full_output, disp)
    require_constants("fminbound", x1=x1, x2=x2)
    options = {"xatol": xtol, "maxiter": maxfun, "disp": disp}
    return _number(
        "fminbound", func, args, full_output, bounds=(x1, x2), method="bounded", options=options
    )


@host_only
def brent(
    func: Function,
    args: Any = (),
    brack: Any = None,
    tol: float = 1.48e-8,
    full_output: Any = 0,
    maxiter: int = 500,
) -> Any:
    """The number near `brack` at which ``func(x, *args)`` is least, by parabolas and golden sections.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `minimize_scalar`.
    Raises: as `minimize_scalar`. ArgumentError: `full_output` under a transform.
    Source: Brent, "Algorithms for Minimization Without Derivatives", 1973; SciPy reference,
    ``scipy.optimize.brent``.

    >>> import funcgrad
    >>> at = lambda c: brent(lambda x: np.cosh(x - c))
    >>> float(funcgrad.grad(at)(2.0).round(6))
    1.0
    """
    require_callable("brent", func)
    if not tracing():
        return scipy("brent").brent(func, extras(args), brack, tol, full_output, maxiter)
    options = {"xtol": tol, "maxiter": maxiter}
    return _number("brent", func, args, full_output, bracket=brack, method="brent", options=options)


@host_only
def golden(
    func: Function,
    args: Any = (),
    brack: Any = None,
    tol: float = _GOOD,
    full_output: Any = 0,
    maxiter: int = 5000,
) -> Any:
    """The number near `brack` at which ``func(x, *args)`` is least, by golden sections; as `brent` in
    everything else.

    Shapes: scalars.   Dtypes: real; gives float64.
    Derivative: as `minimize_scalar`.
    Raises: as `brent`.
    Source: SciPy reference, ``scipy.optimize.golden``.

    >>> float(round(golden(lambda x: np.cosh(x - 2.0)), 6))
    2.0
    """
    require_callable("golden", func)
    if not tracing():
        return scipy("golden").golden(func, extras(args), brack, tol, full_output, maxiter)
    options = {"xtol": tol, "maxiter": maxiter}
    return _number(
        "golden", func, args, full_output, bracket=brack, method="golden", options=options
    )
