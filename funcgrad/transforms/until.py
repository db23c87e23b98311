"""Loops with a test: `while_loop` and `fori_loop`.

Where the test is known they are Python's loops over the user's functions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import tree
from ..core import aval_of, current
from ..errors import ArgumentError, ConcretizationError, ShapeError, where
from ..indexing import known
from ..ops.cast import as_number
from ..weak import plain, weak
from .arguments import is_array, require_callable
from .bodies import Body, as_type, boxed, joined, require_arrays, retyped, staged, strong
from .loops import Loop, require_structure, same_types, settled
from .numbers import of_numbers, strengthened, without_numbers
from .while_loop import Counts, while_call


def while_loop(
    cond_fun: Callable[[Any], Any], body_fun: Callable[[Any], Any], init_val: Any
) -> Any:
    """``while cond_fun(c): c = body_fun(c)``, from ``c = init_val``; the last `c`.

    Where nothing is recorded this is a Python loop. In a program (`jit`, `make_jaxpr`) it is one step,
    and its gradient runs it a second time, as how many steps it takes is known only then. Under
    `vmap` every example goes on until its own test fails, and only those that go on are computed; in
    a program under `vmap` all are, until the last one is done.

    Shapes: the carry is a tree that keeps its shapes; `cond_fun` gives a scalar boolean.
    Dtypes: the carry keeps its own; a Python number in `init_val` takes the one `body_fun` gives it.
    Derivative: that of the steps taken, forward and reverse; the test has none.
    Raises: ArgumentError: the carry's type changes, or `cond_fun` gives no boolean. ShapeError: it
    gives no scalar.
    Source: Griewank & Walther, "Evaluating Derivatives", SIAM 2008, section 3.

    >>> import funcgrad, numpy as np
    >>> f = lambda x: while_loop(lambda y: y < 10.0, lambda y: y * y, x)
    >>> funcgrad.vmap(funcgrad.grad(f))(np.array([2.0, 3.0, 20.0])).tolist()
    [32.0, 108.0, 1.0]
    """
    require_callable("while_loop", cond_fun)
    require_callable("while_loop", body_fun)
    carry, carry_def = tree.flatten(init_val)
    require_arrays("while_loop", "init_val", carry, carry_def)
    carry = boxed(carry)

    def step(value: Any) -> list[Any]:
        new, found = tree.flatten(body_fun(value))
        require_structure("while_loop", carry_def, found)
        return new

    def test(value: Any) -> Any:
        return _scalar(cond_fun(value))

    has_run = False
    while not staged():
        going = known(test(tree.unflatten(carry_def, carry)))
        if going is None:
            break  # from here on it depends on the example
        if not going:
            return tree.unflatten(carry_def, strengthened(carry) if has_run else plain(carry))
        has_run = True
        new = step(tree.unflatten(carry_def, carry))
        carry = same_types("while_loop", carry_def, carry, new)
    args_def = tree.structure((tree.unflatten(carry_def, carry),))
    body, avals = settled(
        "while_loop",
        carry_def,
        carry,
        lambda avals: Body(
            of_numbers(step, avals), args_def, list(map(strong, avals)), may_not_run=True
        ),
    )
    test = of_numbers(test, avals)
    avals = list(map(strong, avals))
    tested = Body(test, args_def, avals)
    (body_jaxpr,), body_consts = joined([retyped(without_numbers(body.jaxpr), avals)])
    (test_jaxpr,), test_consts = joined([without_numbers(tested.jaxpr)])
    outs = while_call(
        *test_consts,
        *body_consts,
        *(as_type(c, a) for c, a in zip(carry, avals, strict=True)),
        test=test_jaxpr,
        body=body_jaxpr,
        counts=Counts(len(test_consts), len(body_consts)),
    )
    return tree.unflatten(carry_def, outs)


def _scalar(found: Any) -> Any:
    if not is_array(found):
        raise ArgumentError(
            f"while_loop: cond_fun must return a boolean, found {type(found).__name__}{where()}"
        )
    aval = aval_of(found)
    if aval.shape:
        raise ShapeError(
            f"while_loop: cond_fun returns shape {list(aval.shape)}; need a scalar: reduce it with "
            f".any() or .all(){where()}"
        )
    if aval.dtype.kind != "b":
        raise ArgumentError(
            f"while_loop: cond_fun returns {aval}; need a boolean: compare it, as in c != 0{where()}"
        )
    return found


def fori_loop(
    lower: Any,
    upper: Any,
    body_fun: Callable[[Any, Any], Any],
    init_val: Any,
    *,
    unroll: int | bool | None = None,
) -> Any:
    """``c = body_fun(i, c)`` for ``i = lower, ..., upper - 1``, from ``c = init_val``; the last `c`.

    With known bounds it is a `scan`, otherwise a `while_loop`. JAX's `unroll` changes nothing.

    Shapes: the bounds are scalars; the carry is a tree that keeps its shapes.
    Dtypes: the bounds are integers, `i` is int64, or a Python number if both bounds are; the carry
    keeps its own.
    Derivative: that of the steps taken.
    Raises: ArgumentError: the carry's type changes, or a bound is no integer.
    Source: as `scan`.

    >>> import funcgrad
    >>> float(funcgrad.grad(lambda x: fori_loop(0, 3, lambda i, c: c * x, 1.0))(2.0))
    12.0
    """
    require_callable("fori_loop", body_fun)
    for name, bound in (("lower", lower), ("upper", upper)):
        if not is_array(bound) or aval_of(bound).dtype.kind not in "iu" or aval_of(bound).shape:
            raise ArgumentError(f"fori_loop: {name} is {bound!r}; need an integer{where()}")
    start, stop = known(lower), known(upper)
    is_number = aval_of(lower).weak and aval_of(upper).weak
    if start is not None and stop is not None:
        xp = current.get().namespace()
        steps = xp.arange(int(start), max(int(start), int(stop)), dtype=np.int64)

        def step(c: Any, i: Any) -> tuple[Any, Any]:
            if is_number:
                i = weak(i.item()) if i.__class__ is np.int64 else as_number(i)
            return body_fun(i, c), ()

        loop = Loop("fori_loop", step, init_val, steps, None, False)
        try:
            return loop.run()[0]
        except ConcretizationError:  # the body branches on values
            if loop.length or staged():
                raise
            return init_val

    def body(state: tuple[Any, Any]) -> tuple[Any, Any]:
        i, c = state
        return i + 1, body_fun(i, c)

    first = lower if is_number else as_type(lower, aval_of(np.int64(0)))
    return while_loop(lambda state: state[0] < upper, body, (first, init_val))[1]
