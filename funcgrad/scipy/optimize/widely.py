"""Minima that are looked for widely: by populations, annealing, hops and divisions of a box."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...transforms.arguments import require_callable
from .._arrays import host_only
from .._programs import tracing
from .implicit import extras, point, refuse, require_constants, scipy
from .minima import number_of, traced_minimum


def _widely(name: str, func: Any, bounds: Any, args: Any, options: dict[str, Any]) -> Any:
    """SciPy's minimum within bounds, with derivatives where something is traced."""
    require_callable(name, func)
    solver, further = getattr(scipy(name), name), extras(args)

    def f(x: Any) -> Any:
        return number_of(func(x, *further))

    def solve(f: Any, _own: Any, _x0: Any) -> Any:
        return solver(lambda x: float(f(x)), bounds, **options)

    if not tracing():
        return solve(f, None, None)
    refused = ("callback", "constraints", "integrality", "vectorized")
    refuse(name, "under transforms", **{option: options.get(option) for option in refused})
    require_constants(name, bounds=bounds, **options)
    low, high = (bounds.lb, bounds.ub) if hasattr(bounds, "lb") else np.transpose(bounds)
    middle = np.atleast_1d(0.5 * (np.asarray(low, float) + np.asarray(high, float)))
    return traced_minimum(name, f, {}, middle, solve, bounds)


@host_only
def differential_evolution(
    func: Callable[..., Any], bounds: Any, args: Any = (), **options: Any
) -> Any:
    """An `x` within `bounds` at which ``func(x, *args)`` is least, by a population that evolves.

    SciPy finds it, with its `options`; see `minimize` for the result under a transform.

    Shapes: ``func: (n) -> ()``; n pairs of bounds.   Dtypes: real; gives float64.
    Derivative: that of the minimum, as of `minimize`.
    Raises: as `minimize`, and as SciPy for its options.
    Source: Storn & Price, J. Global Optimization 11 (1997) 341; SciPy reference,
    ``scipy.optimize.differential_evolution``.

    >>> import funcgrad
    >>> loss = lambda x, c: np.sum((x - c) ** 2 + 0.1 * (1 - np.cos(9 * (x - c))))
    >>> at = lambda c: differential_evolution(loss, [(-5, 5)] * 2, (c,), rng=0).x
    >>> funcgrad.jacrev(at)(1.0).round(4).tolist()
    [1.0, 1.0]
    """
    return _widely("differential_evolution", func, bounds, args, options)


@host_only
def dual_annealing(func: Callable[..., Any], bounds: Any, args: Any = (), **options: Any) -> Any:
    """An `x` within `bounds` at which ``func(x, *args)`` is least, by annealing and local searches.

    SciPy finds it, with its `options`; see `minimize` for the result under a transform.

    Shapes: ``func: (n) -> ()``; n pairs of bounds.   Dtypes: real; gives float64.
    Derivative: that of the minimum, as of `minimize`.
    Raises: as `minimize`, and as SciPy for its options.
    Source: Xiang et al., Physics Letters A 233 (1997) 216; SciPy reference,
    ``scipy.optimize.dual_annealing``.

    >>> import funcgrad
    >>> loss = lambda x, c: np.sum((x - c) ** 2)
    >>> at = lambda c: dual_annealing(loss, [(-5, 5)], (c,), rng=0, maxiter=20).x
    >>> funcgrad.jacrev(at)(1.0).round(4).tolist()
    [1.0]
    """
    return _widely("dual_annealing", func, bounds, args, options)


@host_only
def shgo(func: Callable[..., Any], bounds: Any, args: Any = (), **options: Any) -> Any:
    """An `x` within `bounds` at which ``func(x, *args)`` is least, by divisions into simplices.

    SciPy finds it, with its `options`, of which constraints are refused under a transform; see
    `minimize` for the result there.

    Shapes: ``func: (n) -> ()``; n pairs of bounds.   Dtypes: real; gives float64.
    Derivative: that of the minimum, as of `minimize`.
    Raises: as `minimize`, and as SciPy for its options.
    Source: Endres, Sandrock & Focke, J. Global Optimization 72 (2018) 181; SciPy reference,
    ``scipy.optimize.shgo``.

    >>> import funcgrad
    >>> loss = lambda x, c: np.sum((x - c) ** 2)
    >>> funcgrad.jacrev(lambda c: shgo(loss, [(-5, 5)], (c,)).x)(1.0).round(4).tolist()
    [1.0]
    """
    return _widely("shgo", func, bounds, args, options)


@host_only
def basinhopping(
    func: Callable[..., Any],
    x0: Any,
    niter: int = 100,
    T: float = 1.0,
    stepsize: float = 0.5,
    minimizer_kwargs: Any = None,
    **options: Any,
) -> Any:
    """An `x` at which `func` is least, by local searches from the last one's end and a random step.

    SciPy finds it, with its `options`; further arguments of `func` and the local method are in
    `minimizer_kwargs`. See `minimize` for the result under a transform.

    Shapes: ``x0: (n), func: (n) -> ()``.   Dtypes: real; integers give float64.
    Derivative: that of the minimum, as of `minimize`; none by `x0`.
    Raises: as `minimize`. ArgumentError: under a transform `minimizer_kwargs` has bounds or
    constraints.
    Source: Wales & Doye, J. Phys. Chem. A 101 (1997) 5111; SciPy reference,
    ``scipy.optimize.basinhopping``.

    >>> import funcgrad
    >>> def loss(x, c):
    ...     return np.sum((x - c) ** 2 + 0.1 * (1 - np.cos(9 * (x - c))))
    >>> at = lambda c: basinhopping(lambda x: loss(x, c), np.zeros(1), niter=9, rng=0).x
    >>> funcgrad.jacrev(at)(1.0).round(4).tolist()
    [1.0]
    """
    require_callable("basinhopping", func)
    solver, local = scipy("basinhopping").basinhopping, dict(minimizer_kwargs or {})
    further = extras(local.pop("args", ()))
    x0 = point("basinhopping", "x0", x0)

    def f(x: Any) -> Any:
        return number_of(func(x, *further))

    def solve(f: Any, _own: Any, x0: Any) -> Any:
        return solver(lambda x: float(f(x)), x0, niter, T, stepsize, local, **options)

    if not tracing():
        return solve(f, None, x0)
    refuse("basinhopping", "under transforms", callback=options.get("callback"))
    for option in ("bounds", "constraints"):
        refuse("basinhopping", "under transforms", **{option: local.get(option)})
    require_constants("basinhopping", minimizer_kwargs=local, T=T, stepsize=stepsize)
    return traced_minimum("basinhopping", f, {}, x0, solve, None)
