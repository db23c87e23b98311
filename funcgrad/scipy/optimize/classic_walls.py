"""Older functions of ``scipy.optimize`` for minima with curvature, bounds or constraints: `fmin_ncg`,
`fmin_tnc`, `fmin_slsqp`, `fmin_cobyla`.

They are `minimize` with other arguments and results, and have its derivatives.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...errors import ArgumentError, where
from ...transforms.arguments import require_callable
from .._arrays import host_only
from .._programs import tracing
from .implicit import extras, refuse
from .minima import minimize

Function = Callable[..., Any]

_GOOD = float(np.sqrt(np.finfo(float).eps))


def _given(**options: Any) -> dict[str, Any]:
    return {name: value for name, value in options.items() if value is not None}


@host_only
def fmin_ncg(
    f: Function,
    x0: Any,
    fprime: Function | None = None,
    fhess_p: Function | None = None,
    fhess: Function | None = None,
    args: Any = (),
    avextol: float = 1e-5,
    epsilon: Any = _GOOD,
    maxiter: int | None = None,
    full_output: Any = 0,
    disp: Any = 1,
    retall: Any = 0,
    callback: Any = None,
    c1: float = 1e-4,
    c2: float = 0.9,
) -> Any:
    """The `x` near `x0` at which ``f(x, *args)`` is least, by Newton's method with conjugate gradients.

    Gradient and Hessian are funcgrad's if `fprime`, or `fhess` and `fhess_p`, are not given, so
    `epsilon` changes nothing. With `full_output` also the value, the numbers of calls of `f`, its
    gradient and its Hessian, and why it ended.

    Shapes: ``x0: (n), f: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `minimize`. ArgumentError: `retall`; `full_output`, `fhess_p` or `callback` under a
    transform.
    Source: Nocedal & Wright, "Numerical Optimization", Springer 2006; SciPy reference,
    ``scipy.optimize.fmin_ncg``.

    >>> fmin_ncg(lambda x: np.sum((x - 3.0) ** 2), np.zeros(2), disp=0).round(6).tolist()
    [3.0, 3.0]
    """
    require_callable("fmin_ncg", f)
    refuse("fmin_ncg", "here; collect the places in callback=", retall=retall)
    if tracing():
        refuse("fmin_ncg", "under transforms", full_output=full_output)
    options = _given(xtol=avextol, maxiter=maxiter, disp=bool(disp), c1=c1, c2=c2)
    found = minimize(
        f, x0, args, "Newton-CG", fprime, fhess, fhess_p, callback=callback, options=options
    )
    if not full_output:
        return found.x
    return found.x, found.fun, found.nfev, found.njev, found.nhev, found.status


@host_only
def fmin_tnc(
    func: Function,
    x0: Any,
    fprime: Function | None = None,
    args: Any = (),
    approx_grad: Any = 0,
    bounds: Any = None,
    epsilon: float = 1e-8,
    scale: Any = None,
    offset: Any = None,
    messages: int = 0,
    maxCGit: int = -1,
    maxfun: int | None = None,
    eta: float = -1,
    stepmx: float = 0,
    accuracy: float = 0,
    fmin: float = 0,
    ftol: float = -1,
    xtol: float = -1,
    pgtol: float = -1,
    rescale: float = -1,
    disp: Any = None,
    callback: Any = None,
) -> tuple[Any, Any, Any]:
    """The `x` near `x0`, within `bounds`, at which ``func(x, *args)`` is least, by a truncated Newton
    method; the number of calls of `func`; and a number that says why it ended.

    `func` gives the pair of value and gradient, unless `fprime` or `approx_grad` is given. With
    `approx_grad` the gradient is funcgrad's, so `epsilon` changes nothing. Nothing is printed unless
    `messages` or `disp` asks for it.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `minimize`. ArgumentError: `callback` under a transform.
    Source: Nash, "Newton-type minimization via the Lanczos method", 1984; SciPy reference,
    ``scipy.optimize.fmin_tnc``.

    >>> x, _, _ = fmin_tnc(lambda x: (x[0] - 3.0) ** 2, [0.0], approx_grad=1, bounds=[(None, 2.0)])
    >>> x.tolist()
    [2.0]
    """
    require_callable("fmin_tnc", func)
    options = _given(
        scale=scale, offset=offset, mesg_num=messages if disp is None else None, disp=disp,
        maxCGit=maxCGit, maxfun=maxfun, eta=eta, stepmx=stepmx, accuracy=accuracy, minfev=fmin,
        ftol=ftol, xtol=xtol, gtol=pgtol, rescale=rescale,
    )  # fmt: skip
    pair = fprime is None and not approx_grad
    if tracing():
        refuse("fmin_tnc", "under transforms", callback=callback)
    found = minimize(
        func, x0, args, "TNC", True if pair else fprime, bounds=bounds, callback=callback,
        options=options,
    )  # fmt: skip
    return found.x, found.nfev, found.status


def _all_of(name: str, functions: Any, args: Any, slope: Function | None, kind: str) -> list[Any]:
    """The constraints that functions give, one of all or one each, in the words of `minimize`."""
    if callable(functions):
        given = {"type": kind, "fun": functions, "args": extras(args)}
        return [given if slope is None else {**given, "jac": slope}]
    for f in functions:
        require_callable(name, f)
    return [{"type": kind, "fun": f, "args": extras(args)} for f in functions]


@host_only
def fmin_slsqp(
    func: Function,
    x0: Any,
    eqcons: Any = (),
    f_eqcons: Function | None = None,
    ieqcons: Any = (),
    f_ieqcons: Function | None = None,
    bounds: Any = (),
    fprime: Function | None = None,
    fprime_eqcons: Function | None = None,
    fprime_ieqcons: Function | None = None,
    args: Any = (),
    iter: int = 100,
    acc: float = 1e-6,
    iprint: int = 1,
    disp: Any = None,
    full_output: Any = 0,
    epsilon: float = _GOOD,
    callback: Any = None,
) -> Any:
    """The `x` near `x0`, within `bounds`, at which ``func(x, *args)`` is least where all of `eqcons`
    are 0 and none of `ieqcons` is negative; `f_eqcons` and `f_ieqcons` give such numbers in a row, and
    are taken instead. By sequential least squares.

    Derivatives that are not given are funcgrad's, so `epsilon` changes nothing. With `full_output` also
    the value, the number of steps, and why it ended, as a number and in words.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`.
    Raises: as `minimize`. ArgumentError: `callback` under a transform.
    Source: Kraft, "A software package for sequential quadratic programming", 1988; SciPy reference,
    ``scipy.optimize.fmin_slsqp``.

    >>> line = lambda x: x[0] + x[1] - 1.0
    >>> fmin_slsqp(lambda x: x @ x, np.zeros(2), [line], iprint=0).round(6).tolist()
    [0.5, 0.5]
    """
    require_callable("fmin_slsqp", func)
    equal = _all_of("fmin_slsqp", f_eqcons or eqcons, args, fprime_eqcons, "eq")
    more = _all_of("fmin_slsqp", f_ieqcons or ieqcons, args, fprime_ieqcons, "ineq")
    if tracing():
        refuse("fmin_slsqp", "under transforms", callback=callback)
    shown = iprint if disp is None else disp
    options = {"maxiter": iter, "ftol": acc, "iprint": iprint, "disp": bool(shown)}
    found = minimize(
        func, x0, args, "SLSQP", fprime, bounds=bounds if len(bounds) else None,
        constraints=equal + more, callback=callback, options=options,
    )  # fmt: skip
    if not full_output:
        return found.x
    return found.x, found.fun, found.nit, found.status, found.message


@host_only
def fmin_cobyla(
    func: Function,
    x0: Any,
    cons: Any,
    args: Any = (),
    consargs: Any = None,
    rhobeg: float = 1.0,
    rhoend: float = 1e-4,
    maxfun: int = 1000,
    disp: Any = None,
    catol: float = 2e-4,
    *,
    callback: Any = None,
) -> Any:
    """The `x` near `x0` at which ``func(x, *args)`` is least where none of `cons` is negative, by
    linear approximations; `cons` is one function or several, of `consargs` or else of `args`.

    Shapes: ``x0: (n), func: (n) -> ()`` gives ``(n)``.   Dtypes: real; integers give float64.
    Derivative: as `minimize`; it is as exact as the minimum, so lower `rhoend`.
    Raises: as `minimize`. ArgumentError: `cons` is none; `callback` under a transform.
    Source: Powell, "A direct search optimization method that models the objective and constraint
    functions by linear interpolation", 1994; SciPy reference, ``scipy.optimize.fmin_cobyla``.

    >>> fmin_cobyla(lambda x: x @ x, [3.0], [lambda x: x[0] - 1.0], rhoend=1e-9).round(6).tolist()
    [1.0]
    """
    require_callable("fmin_cobyla", func)
    if not callable(cons) and not len(cons):
        raise ArgumentError(
            f"fmin_cobyla: cons= has no function; need one, or several that give what must not be "
            f"negative{where()}"
        )
    if tracing():
        refuse("fmin_cobyla", "under transforms", callback=callback)
    options = _given(rhobeg=rhobeg, tol=rhoend, maxiter=maxfun, disp=disp, catol=catol)
    limits = _all_of("fmin_cobyla", cons, args if consargs is None else consargs, None, "ineq")
    found = minimize(
        func, x0, args, "COBYLA", constraints=limits, callback=callback, options=options
    )
    return found.x
