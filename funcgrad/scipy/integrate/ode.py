"""Initial value problems: `odeint` and `solve_ivp`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ... import numpy as fnp
from ... import tree
from ...core import aval_of
from ...errors import ArgumentError, ConcretizationError, ShapeError, where
from ...indexing import known
from ...numpy._arguments import array_of, converted, module_of
from ...ops.select import stop_gradient
from ...ops.select import where as choose
from ...transforms.arguments import is_array, require_callable
from ...transforms.bodies import boxed
from ...views import snapshot
from .._arrays import floating
from .._results import Result
from . import steps
from .steps import Control, State

_METHODS = {"RK45": steps.DORMAND_PRINCE, "RK23": steps.BOGACKI_SHAMPINE}


class Equation:
    """``y' = f(t, y)`` with the start of a solution: leaves of one tree, times in their precision."""

    def __init__(
        self, name: str, func: Callable[..., Any], y0: Any, args: Any, *, time_first: bool
    ) -> None:
        require_callable(name, func)
        self.name = name
        self.func = func
        self.args = _extras(args)
        self.time_first = time_first
        self.is_tree = not (is_array(y0) or _is_list(y0))
        self.xp = module_of(*tree.leaves((y0, self.args)))
        if self.is_tree:
            leaves, self.treedef = tree.flatten(y0)
        else:
            leaves, self.treedef = tree.flatten(fnp.atleast_1d(array_of(y0, self.xp)))
        self.y0 = [floating(y, self.xp) for y in leaves]
        if not self.y0:
            raise ArgumentError(f"{name}: y0 holds no arrays{where()}")
        parts = [np.finfo(aval_of(y).dtype).dtype for y in self.y0]
        self.dtype = np.result_type(*parts)
        self.least = 100 * float(max(np.finfo(p).eps for p in parts))

    def slope(self, t: Any, leaves: Sequence[Any]) -> list[Any]:
        # a function may write into its argument, and into one array for all its results
        y = tree.unflatten(self.treedef, boxed(leaves))
        given = (t, y) if self.time_first else (y, t)
        found = self.func(*given, *self.args)
        if not self.is_tree:
            return [self._fitted(fnp.atleast_1d(array_of(found, self.xp)), leaves[0], "")]
        made, found_def = tree.flatten(found)
        if found_def != self.treedef:
            raise ArgumentError(
                f"{self.name}: the function returns {found_def} for y, which is {self.treedef}"
                f"{where()}"
            )
        paths = self.treedef.paths()
        return [
            self._fitted(array_of(k, self.xp), y, tree.key_str(p))
            for k, y, p in zip(made, leaves, paths, strict=True)
        ]

    def _fitted(self, k: Any, y: Any, leaf: str) -> Any:
        """A slope in the dtype of its value."""
        found, needed = aval_of(k), aval_of(y)
        if found.shape != needed.shape:
            raise ShapeError(
                f"{self.name}: the function returns shape {list(found.shape)} for y{leaf}, which has "
                f"shape {list(needed.shape)}{where()}"
            )
        if found.dtype.kind == "c" and needed.dtype.kind != "c":
            raise ArgumentError(
                f"{self.name}: the function returns complex numbers for y{leaf}, which is {needed}; "
                f"give a complex y0{where()}"
            )
        return snapshot(converted(k, needed.dtype), copy=True)

    def control(self, method: Any, rtol: Any, atol: Any, max_step: Any, count: float) -> Control:
        exact = fnp.maximum(stop_gradient(self._tolerance("rtol", rtol)), self.least)
        loose = stop_gradient(self._tolerance("atol", atol))
        return Control(method, exact, loose, float(max_step), count)

    def _tolerance(self, what: str, x: Any) -> Any:
        x = array_of(x, self.xp)
        value = known(x)
        if value is not None and not bool((value >= 0).all()):
            raise ArgumentError(
                f"{self.name}: {what}={x!r}; need numbers that are not negative{where()}"
            )
        return x

    def start(self, t0: Any) -> State:
        s = steps.start(self.slope, t0, self.y0)
        return s._replace(slope=self.slope(t0, self.y0))

    def times(self, t: Any) -> Any:
        t = array_of(t, self.xp)
        if aval_of(t).dtype.kind == "c":
            raise ArgumentError(f"{self.name}: times must be real, found {aval_of(t)}{where()}")
        return converted(t, self.dtype)


def _is_list(y: Any) -> bool:
    """Whether `y` is a nested list or tuple of numbers, which stands for an array."""
    return isinstance(y, list | tuple) and all(
        _is_list(x) or (is_array(x) and not aval_of(x).shape) for x in y
    )


def _extras(args: Any) -> tuple[Any, ...]:
    if args is None:
        return ()
    return tuple(args) if isinstance(args, tuple | list) else (args,)


def _refuse(name: str, why: str, **options: Any) -> None:
    for option, value in options.items():
        if value:
            raise ArgumentError(f"{name}: {option}={value!r} is not supported: {why}{where()}")


def _require_line(name: str, what: str, t: Any) -> None:
    """Raise unless the times are a row in order."""
    if len(aval_of(t).shape) != 1:
        raise ShapeError(f"{name}: {what} has shape {list(aval_of(t).shape)}; need a row{where()}")
    value = known(t)
    if value is not None and value.size > 1:
        gaps = value[1:] - value[:-1]
        if not ((gaps >= 0).all() or (gaps <= 0).all()):
            raise ArgumentError(f"{name}: {what} must rise or fall throughout{where()}")


def odeint(
    func: Callable[..., Any],
    y0: Any,
    t: Any,
    args: Any = (),
    Dfun: Any = None,
    col_deriv: Any = 0,
    full_output: Any = 0,
    ml: Any = None,
    mu: Any = None,
    rtol: Any = None,
    atol: Any = None,
    tcrit: Any = None,
    h0: Any = 0.0,
    hmax: Any = 0.0,
    hmin: Any = 0.0,
    ixpr: Any = 0,
    mxstep: Any = 0,
    mxhnil: Any = 0,
    mxordn: Any = 12,
    mxords: Any = 5,
    printmessg: Any = 0,
    tfirst: bool = False,
) -> Any:
    """``y(t[i])`` with ``dy/dt = func(y, t, *args)`` and ``y(t[0]) = y0``.

    Dormand and Prince's steps of order 5, of controlled size, that end at every ``t[i]``: not for stiff
    equations, where SciPy changes to another method. `y0` may be a tree of arrays. `mxstep`: how many
    steps may lead from one time to the next, 0 for any number. What is said to other methods (`Dfun`,
    `col_deriv`, `ml`, `mu`, `mxordn`, `mxords`, `mxhnil`) changes nothing. `func` may branch on values
    where they are known, not under `jit` and `vmap`.

    Shapes: ``y0: (*a), t: (n) -> (n, *a)``; a number `y0` counts as ``(1)``.
    Dtypes: floating, complex; integers give float64; times are taken to the precision of `y0`, and
    `rtol` is at least 100 times that.
    Derivative: that of the steps taken, by `y0`, `t`, `args` and what `func` closes over. Memory in
    reverse mode grows with the number of steps.
    Raises: ArgumentError: an option is not supported, or `t` is in no order. ShapeError: `func` gives
    another shape. Where no step is small enough, the values are nan from there on.
    Source: Dormand & Prince, J. Comp. Appl. Math. 6 (1980); Hairer, Nørsett & Wanner, "Solving
    Ordinary Differential Equations I", Springer 1993; SciPy reference, ``scipy.integrate.odeint``.

    >>> import funcgrad
    >>> end = lambda rate: odeint(lambda y, t, r: -r * y, 1.0, [0.0, 1.0], (rate,))[-1, 0]
    >>> float(end(1.0).round(6)), float(funcgrad.grad(end)(1.0).round(6))
    (0.367879, -0.367879)
    """
    _refuse("odeint", "it is for other methods", tcrit=tcrit, hmin=hmin)
    _refuse("odeint", "solve_ivp says how it went", full_output=full_output)
    equation = Equation("odeint", func, y0, args, time_first=tfirst)
    t = equation.times(t)
    _require_line("odeint", "t", t)
    n = aval_of(t).shape[0]
    if not n:
        raise ShapeError(f"odeint: t has no elements{where()}")
    rtol, atol = (1.49012e-8 if x is None else x for x in (rtol, atol))
    max_step = float(hmax) or np.inf
    control = equation.control(steps.DORMAND_PRINCE, rtol, atol, max_step, float(mxstep) or np.inf)
    first = [fnp.expand_dims(y, 0) for y in equation.y0]
    if n == 1:
        return tree.unflatten(equation.treedef, first)
    s = equation.start(t[0])
    size = float(h0) or steps.first_size(equation.slope, control, s, t[-1] - t[0])
    s = s._replace(size=converted(array_of(size, equation.xp), equation.dtype))
    _, ys = steps.solution(equation.slope, control, s, t[1:])
    rows = [fnp.concatenate([a, b], axis=0) for a, b in zip(first, ys, strict=True)]
    return tree.unflatten(equation.treedef, rows)


_DONE = "The solver successfully reached the end of the integration interval."
_LOST = "Required step size is less than spacing between numbers."
_LATER = "The solver runs when the program does; see status."


def solve_ivp(
    fun: Callable[..., Any],
    t_span: Any,
    y0: Any,
    method: str = "RK45",
    t_eval: Any = None,
    dense_output: bool = False,
    events: Any = None,
    vectorized: bool = False,
    args: Any = None,
    *,
    rtol: Any = 1e-3,
    atol: Any = 1e-6,
    first_step: Any = None,
    max_step: float = np.inf,
) -> Result:
    """``y(t)`` for t in `t_span` with ``dy/dt = fun(t, y, *args)`` and ``y(t_span[0]) = y0``.

    `method`: "RK45" or "RK23". The result has the fields ``t``, ``y``, ``success``, ``status``,
    ``message``, ``nfev``. Without `t_eval`, ``t`` are the ends of the solver's own steps, which needs
    values that are known (not under `jit` or `vmap`). With it, steps end at its times, where SciPy
    interpolates: the values are nearer to the solution.

    Shapes: ``y0: (k), t_eval: (n) -> t: (n), y: (k, n)``.
    Dtypes: floating, complex; integers give float64.
    Derivative: as `odeint`; by `t_span` and `t_eval`, too.
    Raises: ArgumentError: a method or an option is not supported, `t_eval` is outside of `t_span`.
    ConcretizationError: no `t_eval`, and the number of steps is not known. Where no step is small
    enough, ``status`` is -1 and what is left of ``y`` is nan.
    Source: as `odeint`; Bogacki & Shampine, Appl. Math. Lett. 2 (1989); SciPy reference,
    ``scipy.integrate.solve_ivp``.

    >>> found = solve_ivp(lambda t, y: -y, (0.0, 1.0), [1.0], t_eval=[0.5, 1.0], rtol=1e-8)
    >>> found.y.round(6).tolist(), found.success
    ([[0.606531, 0.367879]], True)
    """
    if method not in _METHODS:
        raise ArgumentError(
            f"solve_ivp: method={method!r} is not supported; need one of "
            f"{', '.join(map(repr, _METHODS))}{where()}"
        )
    _refuse("solve_ivp", "only values at given times are differentiable", events=events)
    _refuse("solve_ivp", "give t_eval", dense_output=dense_output)
    equation = Equation("solve_ivp", fun, y0, args, time_first=True)
    if equation.is_tree or len(aval_of(equation.y0[0]).shape) != 1:
        raise ShapeError(f"solve_ivp: y0 must be a row of numbers; odeint takes others{where()}")
    begin, end = (equation.times(t) for t in t_span)
    if not max_step > 0:
        raise ArgumentError(f"solve_ivp: max_step={max_step!r}; need a positive number{where()}")
    control = equation.control(_METHODS[method], rtol, atol, max_step, np.inf)
    s = equation.start(begin)
    size = first_step
    if size is None:
        size = steps.first_size(equation.slope, control, s, end - begin)
    s = s._replace(size=converted(array_of(size, equation.xp), equation.dtype))
    if t_eval is None:
        last, t, y = _own_steps(equation, control, s, end)
    else:
        t = equation.times(t_eval)
        _require_inside(t, begin, end)
        last, (rows,) = steps.solution(equation.slope, control, s, t)
        y = fnp.transpose(rows)
    return _result(equation, control, last, t, y, asked=first_step is None)


def _require_inside(t: Any, begin: Any, end: Any) -> None:
    _require_line("solve_ivp", "t_eval", t)
    values = [known(x) for x in (t, begin, end)]
    if any(v is None for v in values):
        return
    times, a, b = values
    if np.any(times < min(a, b)) or np.any(times > max(a, b)):
        raise ArgumentError(f"solve_ivp: t_eval has times outside of t_span{where()}")
    if times.size > 1 and (times[-1] - times[0]) * (b - a) < 0:
        raise ArgumentError(f"solve_ivp: t_eval must be in the direction of t_span{where()}")


def _own_steps(equation: Equation, control: Control, s: State, end: Any) -> Any:
    """The last state, and times and values after every step that was taken."""
    if known(s.size) is None or known(end) is None or known(s.t) is None:
        raise ConcretizationError(
            f"solve_ivp: how many steps there are is not known while the function is traced, and it "
            f"is the shape of the result; give t_eval{where()}"
        )
    times, rows, rejected = [s.t], [s.y[0]], False
    status = steps.GOING
    while status == steps.GOING:
        s, rejected = steps.trial(equation.slope, control, end, s, rejected)
        status = known(s.status)
        if not known(rejected):
            times.append(s.t)
            rows.append(s.y[0])
    return s, fnp.stack(times), fnp.stack(rows, axis=1)


def _result(
    equation: Equation, control: Control, last: State, t: Any, y: Any, *, asked: bool
) -> Result:
    """What SciPy's solver says, too."""
    status = choose(last.status == steps.FAILED, -1, 0)
    value = known(status)
    evaluations = 1 + asked + last.count * (len(control.method.nodes) + 1)
    if value is not None:
        status = int(value)
        evaluations = int(known(evaluations))
    return Result(
        message=_LATER if value is None else _LOST if value else _DONE,
        success=status == 0,
        status=status,
        t=t,
        y=y,
        sol=None,
        t_events=None,
        y_events=None,
        nfev=evaluations,
        njev=0,
        nlu=0,
    )
