"""Least squares: `least_squares`, `leastsq`, `curve_fit`."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, aval_of
from ...errors import ArgumentError, ShapeError, where
from ...numpy._arguments import array_of, converted
from ...transforms.arguments import require_callable
from ...transforms.derivatives import grad, jacfwd
from .._arrays import host_only
from .._programs import Programs, on_host, tracing
from .implicit import (
    INT,
    count,
    extras,
    flag,
    free_of,
    implicit,
    in_precision,
    is_solution,
    plain,
    point,
    refuse,
    require_constants,
    said,
    scipy,
    where_free,
)


def _soft(z: Any) -> Any:
    return 2.0 * (fnp.sqrt(1.0 + z) - 1.0)


def _huber(z: Any) -> Any:
    near = z <= 1.0
    return fnp.where(near, z, 2.0 * fnp.sqrt(fnp.where(near, 1.0, z)) - 1.0)


_LOSSES: dict[str, Callable[[Any], Any]] = {
    "linear": lambda z: z,
    "soft_l1": _soft,
    "huber": _huber,
    "cauchy": lambda z: fnp.log1p(z),
    "arctan": lambda z: fnp.arctan(z),
}


def _cost(residuals: Any, loss: str, f_scale: Any) -> Any:
    """``1/2 sum(scale^2 rho((f / scale)^2))``."""
    z = fnp.square(residuals / f_scale)
    return 0.5 * fnp.sum(f_scale * f_scale * _LOSSES[loss](z))


@host_only
def least_squares(
    fun: Callable[..., Any],
    x0: Any,
    jac: Any = "2-point",
    bounds: Any = (-np.inf, np.inf),
    method: str = "trf",
    ftol: float | None = 1e-8,
    xtol: float | None = 1e-8,
    gtol: float | None = 1e-8,
    x_scale: Any = None,
    loss: str = "linear",
    f_scale: float = 1.0,
    diff_step: Any = None,
    tr_solver: Any = None,
    tr_options: Any = None,
    jac_sparsity: Any = None,
    max_nfev: int | None = None,
    verbose: int = 0,
    args: Any = (),
    kwargs: Any = None,
    callback: Any = None,
    workers: Any = None,
) -> Any:
    """An `x` near `x0` at which ``1/2 sum(rho(fun(x, *args)**2))`` is least.

    SciPy finds it with funcgrad's Jacobian, whatever difference `jac` names (a function of your own is
    used as it is), so `diff_step`, `jac_sparsity` and `workers` change nothing. In compiled programs it
    runs when they do, under `vmap` for one example after another. Under a transform the result has the
    fields ``x``, ``cost``, ``fun``, ``jac``, ``grad``, ``active_mask``, ``success``, ``status``,
    ``message``, ``nfev``.

    Shapes: ``x0: (n), fun: (n) -> (m)``.   Dtypes: real floating; integers give float64.
    Derivative: that of the minimum, with all second derivatives of `fun`; also by what `fun` closes
    over; none by `x0` and the bounds. An element on a bound stays there. It is as exact as the minimum,
    so lower the tolerances, and nan where the solver ends elsewhere.
    Raises: LinAlgError: the Hessian is singular. ArgumentError: a loss that has no name, `callback`
    under a transform. ShapeError: `fun` gives no row. ConcretizationError: `fun` branches on traced
    values.
    Source: as `minimize`; Moré, "The Levenberg-Marquardt algorithm", 1978; SciPy reference,
    ``scipy.optimize.least_squares``.

    >>> import funcgrad
    >>> t = np.array([0.0, 1.0, 2.0])
    >>> fit = lambda y: least_squares(lambda p: p[0] * np.exp(p[1] * t) - y, [1.0, 0.1]).x
    >>> fit(np.exp(0.5 * t) * 2.0).round(6).tolist()
    [2.0, 0.5]
    >>> funcgrad.jacrev(fit)(np.exp(0.5 * t) * 2.0).round(3).tolist()[1]
    [-0.167, -0.101, 0.122]
    """
    require_callable("least_squares", fun)
    if loss not in _LOSSES:
        raise ArgumentError(
            f"least_squares: loss={loss!r}; need one of {', '.join(map(repr, _LOSSES))}{where()}"
        )
    solver, further = scipy("least_squares").least_squares, extras(args)
    x0 = point("least_squares", "x0", x0)
    options = {
        "bounds": bounds, "method": method, "ftol": ftol, "xtol": xtol, "gtol": gtol, "loss": loss,
        "f_scale": f_scale, "tr_solver": tr_solver, "tr_options": tr_options or {},
        "max_nfev": max_nfev, "verbose": verbose,
        **({} if x_scale is None else {"x_scale": x_scale}),
        **({} if callback is None else {"callback": callback}),
    }  # fmt: skip

    def f(x: Any) -> Any:
        return fnp.atleast_1d(array_of(fun(x, *further, **(kwargs or {}))))

    given = [lambda x: jac(x, *further, **(kwargs or {}))] if callable(jac) else []

    def solve(f: Any, slopes: list[Any], x0: Any) -> Any:
        return solver(f, x0, jac=slopes[0] if slopes else jacfwd(f), **options)

    if not tracing():
        return in_precision(solve(f, given, x0), x0)
    refuse("least_squares", "under transforms", callback=callback)
    require_constants("least_squares", **options)
    program = Programs([f, *given], [aval_of(x0)])
    return _traced(program, x0, solve, loss, f_scale, bounds)


def _traced(program: Programs, x0: Any, solve: Any, loss: str, f_scale: Any, bounds: Any) -> Any:
    """The minimum on the host, with its derivatives."""
    if len(program.out_avals[0].shape) != 1:
        raise ShapeError(
            f"least_squares: the function gives {program.out_avals[0]}; need a row{where()}"
        )
    value, held, messages = program.run[0], program.held, []
    shape = aval_of(x0).shape

    def compute(x0: Any, *held: Any) -> list[Any]:
        f, *rest = [(lambda x, r=r: r(*held, x)) for r in program.run]
        found = solve(f, rest, x0)
        messages.append(found.message)
        bend = np.sum(np.square(found.jac), axis=0)
        free = free_of(found.x, found.grad, bend, *_sides(bounds)) & (found.active_mask == 0)
        is_least = is_solution(found.success, found.x, lambda v: stationary(free, *held, v))
        numbers = [found.success, found.status, found.nfev]
        return [found.x, free, found.active_mask, is_least, *numbers]

    def gradient(*held_and_x: Any) -> Any:
        def cost(v: Any) -> Any:
            return _cost(value(*held_and_x[:-1], v), loss, f_scale)

        return grad(cost)(held_and_x[-1])

    stationary = where_free(gradient)
    types = [aval_of(x0), flag(shape), Aval(shape, INT), flag(), flag(), count(), count()]
    x, free, active, is_least, *numbers = on_host("least_squares", compute, [x0, *held], types)
    success, status, nfev = map(plain, numbers)
    x = implicit("least_squares", x, [free, *held], stationary, found=is_least)
    residuals = value(*held, x)
    return scipy("least_squares").OptimizeResult(
        x=x,
        cost=_cost(residuals, loss, f_scale),
        fun=residuals,
        jac=jacfwd(lambda v: value(*held, v))(x),
        grad=gradient(*held, x),
        active_mask=active,
        success=success,
        status=status,
        message=said(messages),
        nfev=nfev,
    )


def _sides(bounds: Any) -> list[np.ndarray]:
    """The lower and upper bounds."""
    pair = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else bounds
    return [np.asarray(b, float) for b in pair]


@host_only
def leastsq(
    func: Callable[..., Any],
    x0: Any,
    args: Any = (),
    Dfun: Callable[..., Any] | None = None,
    full_output: bool = False,
    col_deriv: bool = False,
    ftol: float = 1.49012e-08,
    xtol: float = 1.49012e-08,
    gtol: float = 0.0,
    maxfev: int = 0,
    epsfcn: float | None = None,
    factor: float = 100,
    diag: Any = None,
) -> Any:
    """The `x` of ``least_squares(func, x0, Dfun, method="lm")`` and a status, under SciPy's older name.

    `full_output`: ``(x, cov_x, {"fvec", "fjac", "nfev"}, message, status)``, with the Jacobian itself
    as "fjac" and the inverse of its square as `cov_x`. `col_deriv`: `Dfun` gives the transpose of the
    Jacobian. `epsfcn` changes nothing.

    Shapes: ``x0: (n), func: (n) -> (m)`` with m >= n.   Dtypes: real floating; integers give float64.
    Derivative: that of `least_squares`, of `cov_x`, too.
    Raises: as `least_squares`; ArgumentError: another `factor`.
    Source: as `least_squares`; SciPy reference, ``scipy.optimize.leastsq``.

    >>> import funcgrad
    >>> fit = lambda c: leastsq(lambda x: [x[0] - c, 10.0 * (x[1] - x[0] ** 2)], [1.0, 1.0])[0]
    >>> fit(3.0).round(6).tolist(), funcgrad.jacrev(fit)(3.0).round(6).tolist()
    ([3.0, 9.0], [1.0, 6.0])
    """
    require_callable("leastsq", func)
    if factor != 100:
        raise ArgumentError(f"leastsq: factor={factor!r} is not supported{where()}")

    def by_rows(x: Any, *rest: Any) -> Any:
        return fnp.transpose(array_of(Dfun(x, *rest)))  # type: ignore[misc]

    found = least_squares(
        func,
        x0,
        jac=(by_rows if col_deriv else Dfun) if Dfun is not None else "2-point",
        method="lm",
        ftol=ftol,
        xtol=xtol,
        gtol=max(gtol, float(np.finfo(float).eps)),  # the least that it takes
        max_nfev=maxfev or None,
        x_scale=None if diag is None else 1.0 / np.asarray(diag),
        args=extras(args),
    )
    status = _MINPACK[found.status] if type(found.status) is int else _later(found.status)
    if not full_output:
        return found.x, status
    square = fnp.transpose(found.jac) @ found.jac
    about = {"fvec": found.fun, "fjac": found.jac, "nfev": found.nfev}
    return found.x, fnp.linalg.inv(square), about, found.message, status


# The numbers that MINPACK has for what ended a search, by those of `least_squares`.
_MINPACK = {-1: 0, 0: 5, 1: 4, 2: 1, 3: 2, 4: 3}


def _later(status: Any) -> Any:
    """MINPACK's number for a status that is not known yet."""
    return fnp.take(np.array([_MINPACK[k] for k in sorted(_MINPACK)]), status + 1)


@host_only
def curve_fit(
    f: Callable[..., Any],
    xdata: Any,
    ydata: Any,
    p0: Any = None,
    sigma: Any = None,
    absolute_sigma: bool = False,
    check_finite: bool | None = None,
    bounds: Any = (-np.inf, np.inf),
    method: str | None = None,
    jac: Any = None,
    *,
    full_output: bool = False,
    nan_policy: str | None = None,
    **kwargs: Any,
) -> tuple[Any, Any]:
    """The parameters `p` for which ``f(xdata, *p)`` is nearest to `ydata`, and their covariance.

    By `least_squares`, with `sigma` as the deviations ``(m)`` or the covariance ``(m, m)`` of `ydata`.
    Further keywords are its options.

    Shapes: ``ydata: (m), p0: (n) -> (n), (n, n)``.   Dtypes: real floating; integers give float64.
    Derivative: as `least_squares`: by `ydata`, `xdata`, `sigma` and what `f` closes over, of both
    results; none by `p0` and the bounds.
    Raises: ArgumentError: `full_output`, `nan_policy`, or the number of parameters is not known.
    RuntimeError: no minimum was found, as far as that is known. LinAlgError: the covariance is
    infinite.
    Source: as `least_squares`; SciPy reference, ``scipy.optimize.curve_fit``.

    >>> import funcgrad
    >>> x, line = np.array([0.0, 1.0, 2.0]), lambda x, a, b: a + b * x
    >>> fit = lambda y: curve_fit(line, x, y)[0]
    >>> fit(np.array([1.0, 3.0, 5.0])).round(6).tolist()
    [1.0, 2.0]
    >>> funcgrad.jacrev(fit)(np.array([1.0, 3.0, 5.0])).round(6).tolist()[1]
    [-0.5, -0.0, 0.5]
    """
    require_callable("curve_fit", f)
    refuse("curve_fit", "", full_output=full_output or None, nan_policy=nan_policy)
    x, y = (array_of(v) for v in (xdata, ydata))
    y = y if aval_of(y).dtype.kind == "f" else converted(y, float)
    start = point("curve_fit", "p0", np.ones(_parameters(f)) if p0 is None else p0)
    whitened = _whitening(sigma, aval_of(y).shape)

    def residuals(p: Any) -> Any:
        return whitened(fnp.ravel(f(x, *[p[i] for i in range(start.shape[0])]) - y))

    slopes = jac
    if callable(jac):

        def slopes(p: Any) -> Any:
            return whitened(array_of(jac(x, *[p[i] for i in range(start.shape[0])])))

    bounded = any(np.isfinite(b).any() for b in _sides(bounds))
    found = least_squares(
        residuals,
        start,
        jac=slopes if callable(jac) else "2-point",
        bounds=bounds,
        method=method or ("trf" if bounded else "lm"),
        **kwargs,
    )
    if found.success is False:
        raise RuntimeError(f"curve_fit: {found.message}")
    popt = found.x
    matrix = jacfwd(residuals)(popt)
    pcov = fnp.linalg.inv(fnp.transpose(matrix) @ matrix)
    if not absolute_sigma:
        left = aval_of(y).size - start.shape[0]
        pcov = pcov * (fnp.sum(fnp.square(residuals(popt))) / left) if left > 0 else pcov * np.inf
    return popt, pcov


def _parameters(f: Callable[..., Any]) -> int:
    """How many parameters a model takes after the data."""
    shown = inspect.signature(f).parameters.values()
    found = [p for p in shown if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if any(p.kind is p.VAR_POSITIONAL for p in shown) or len(found) < 2:
        raise ArgumentError(f"curve_fit: how many parameters are there? Give p0{where()}")
    return len(found) - 1


def _whitening(sigma: Any, shape: tuple[int, ...]) -> Callable[[Any], Any]:
    """What divides residuals, or the rows of their Jacobian, by their deviations."""
    if sigma is None:
        return lambda r: r
    sigma = array_of(sigma)
    size = int(np.prod(shape))
    if sigma.shape == (size, size) and size > 1:
        factor = fnp.linalg.cholesky(sigma)
        return lambda r: fnp.linalg.solve(factor, r)
    if sigma.ndim > 1 or sigma.size not in (1, size):
        raise ShapeError(
            f"curve_fit: sigma has shape {list(sigma.shape)}; need {[size]} or {[size, size]}{where()}"
        )
    return lambda r: fnp.transpose(fnp.transpose(r) / sigma)
