"""Boundary value problems: `solve_bvp`.

SciPy chooses the mesh and solves the equations of collocation on it. Of these the solution depends on
what the functions close over, as the implicit function theorem says; the mesh is a constant.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ... import numpy as fnp
from ...core import Aval, Tracer
from ...errors import ArgumentError, ConcretizationError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of
from ...ops.from_scipy import scipy_package
from ...ops.select import stop_gradient
from ...transforms.arguments import require_callable
from .._arrays import host_only
from .._programs import Programs, tracing
from .._results import Result
from ..interpolate import CubicHermiteSpline
from ..optimize.implicit import implicit

_FLOAT = np.dtype(np.float64)


def _constant(what: str, value: Any, rank: int) -> np.ndarray:
    """A guess as a plain array."""
    found = known(stop_gradient(array_of(value)))
    if found is None:
        raise ConcretizationError(
            f"solve_bvp: {what} is not known while the function is traced, and the mesh is chosen by "
            f"it{where()}"
        )
    found = np.array(found)
    if found.dtype.kind == "c":
        raise ArgumentError(
            f"solve_bvp: {what} is complex; solve for real and imaginary parts{where()}"
        )
    if found.ndim != rank:
        raise ShapeError(
            f"solve_bvp: {what} has shape {list(found.shape)}; need {rank} axes{where()}"
        )
    return found.astype(_FLOAT)


class _Host:
    """The functions on plain arrays, with the known values of what they close over.

    They are recorded once for every size of the mesh.
    """

    def __init__(self, fun: Callable[..., Any], bc: Callable[..., Any]) -> None:
        self.functions = {"fun": fun, "bc": bc}
        self.programs: dict[Any, Any] = {}

    def __call__(self, what: str, *xs: Any) -> Any:
        if not tracing():
            return np.asarray(self.functions[what](*xs))
        xs = tuple(np.asarray(x) for x in xs)
        key = (what, *(x.shape for x in xs))
        if key not in self.programs:
            avals = [Aval(x.shape, _FLOAT) for x in xs]
            program = Programs([self.functions[what]], avals)
            held = [known(h) for h in program.held]
            if any(h is None for h in held):
                raise ConcretizationError(
                    f"solve_bvp: what {what} closes over is not known while the function is traced, "
                    f"and the mesh, whose size is a shape of the result, is chosen by it: not under "
                    f"jit or vmap{where()}"
                )
            self.programs[key] = program.run[0], held
        run, held = self.programs[key]
        return np.asarray(run(*held, *xs))


@host_only
def solve_bvp(
    fun: Callable[..., Any],
    bc: Callable[..., Any],
    x: Any,
    y: Any,
    p: Any = None,
    S: Any = None,
    fun_jac: Any = None,
    bc_jac: Any = None,
    tol: float = 1e-3,
    max_nodes: int = 1000,
    verbose: int = 0,
    bc_tol: float | None = None,
) -> Result:
    """``y(x)`` with ``dy/dx = fun(x, y, p)`` and ``bc(y(a), y(b), p) = 0``, and the parameters `p`.

    `x`, `y` and `p` are a first mesh from a to b and guesses; `fun` takes all places at once, ``x:
    (m)`` and ``y: (n, m)``; neither takes a `p` if there is none. The result has the fields ``sol`` (a
    spline), ``p``, ``x``, ``y``, ``yp``, ``rms_residuals``, ``niter``, ``status``, ``message``,
    ``success``. SciPy finds it, as exactly as `tol` says.

    Shapes: ``x: (m), y: (n, m), p: (k), fun: (n, m), bc: (n + k) -> y: (n, m'), p: (k)``.
    Dtypes: real; gives float64.
    Derivative: by what `fun` and `bc` close over, to any order: that of the equations of collocation
    on the last mesh, one dense system of ``n m' + k``; none by the guesses. It is nan where the solver
    did not succeed.
    Raises: ArgumentError: `x` is traced (scale the equation to an interval that is constant), `S`, or
    complex numbers. ConcretizationError: what the functions close over is not known, as under `jit`
    and `vmap`: the size of the mesh depends on it. ShapeError: guesses do not fit.
    Source: Kierzenka & Shampine, ACM Trans. Math. Softw. 27 (2001); SciPy reference,
    ``scipy.integrate.solve_bvp``.

    >>> import funcgrad
    >>> def middle(c):  # of y'' = -c with y(0) = y(1) = 0
    ...     f = lambda x, y: np.stack([y[1], -c + 0.0 * y[0]])
    ...     ends = lambda ya, yb: np.stack([ya[0], yb[0]])
    ...     return solve_bvp(f, ends, np.linspace(0.0, 1.0, 5), np.zeros((2, 5))).sol(0.5)[0]
    >>> float(middle(2.0).round(6)), float(funcgrad.grad(middle)(2.0).round(6))
    (0.25, 0.125)
    """
    require_callable("solve_bvp", fun)
    require_callable("solve_bvp", bc)
    scipy = scipy_package("integrate", "solve_bvp")
    if S is not None:
        raise ArgumentError(f"solve_bvp: S= is not supported{where()}")
    if isinstance(x, Tracer):
        raise ArgumentError(
            f"solve_bvp: x is traced, and there is no derivative by the mesh; scale the equation to an "
            f"interval that is constant{where()}"
        )
    nodes, guess = _constant("x", x, 1), _constant("y", y, 2)
    first = None if p is None else _constant("p", p, 1)
    host = _Host(fun, bc)
    found = scipy.solve_bvp(
        lambda *xs: host("fun", *xs),
        lambda *xs: host("bc", *xs),
        nodes,
        guess,
        first,
        fun_jac=fun_jac,
        bc_jac=bc_jac,
        tol=tol,
        max_nodes=max_nodes,
        verbose=verbose,
        bc_tol=bc_tol,
    )
    mesh = found.x
    values, parameters = found.y, found.p
    n, m = values.shape
    if tracing():
        unknowns = np.concatenate([values.ravel(), [] if parameters is None else parameters])

        def parts(z: Any) -> tuple[Any, tuple[Any, ...]]:
            return fnp.reshape(z[: n * m], (n, m)), () if parameters is None else (z[n * m :],)

        def residual(z: Any) -> Any:
            y, rest = parts(z)
            return _collocation(fun, bc, mesh, y, rest)

        program = Programs([residual], [Aval(unknowns.shape, _FLOAT)])
        z = implicit(
            "solve_bvp",
            unknowns,
            program.held,
            program.run[0],
            found=np.asarray(found.success),
        )
        values, rest = parts(z)
        parameters = rest[0] if rest else None
    slopes = array_of(fun(mesh, values, *(() if parameters is None else (parameters,))))
    return Result(
        sol=CubicHermiteSpline(mesh, values, slopes, axis=1),
        p=parameters,
        x=mesh,
        y=values,
        yp=slopes,
        rms_residuals=found.rms_residuals,
        niter=found.niter,
        status=found.status,
        message=found.message,
        success=found.success,
    )


def _collocation(
    fun: Callable[..., Any], bc: Callable[..., Any], x: Any, y: Any, rest: tuple[Any, ...]
) -> Any:
    """How far the cubic spline through `y` with the slopes of the equation misses it in the middle of
    every gap, and the conditions at the ends.
    """
    h = np.diff(x)
    f = array_of(fun(x, y, *rest))
    low, high = f[:, :-1], f[:, 1:]
    middle = 0.5 * (y[:, 1:] + y[:, :-1]) - 0.125 * h * (high - low)
    slope = array_of(fun(x[:-1] + 0.5 * h, middle, *rest))
    missed = y[:, 1:] - y[:, :-1] - h / 6.0 * (low + high + 4.0 * slope)
    ends = array_of(bc(y[:, 0], y[:, -1], *rest))
    return fnp.concatenate([fnp.ravel(missed), ends])
