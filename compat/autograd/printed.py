"""Fast paths, printed from the primitives: one Python call to run and record an operation.

For tensors of one floating dtype, in the two common modes, this prints a function that runs a
primitive and makes its node, and the node's class, whose `pull` runs the primitive's rule. The
source is that of the primitive's implementation and rule (`funcgrad.inline`); whatever is not common
goes to `general`, the function that `compat.ops` has for everything. What a printed function does is
what `tape.record` does; tests compare the two.

>>> import compat as torch
>>> print(source(torch.tanh))  # doctest: +ELLIPSIS
def tanh(input, *, out=None):
    ...
"""

from __future__ import annotations

import functools
import linecache
import math
import sys
import textwrap
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from funcgrad.algebra import Elementwise, Selection, sum_to
from funcgrad.compile.own_products import dot
from funcgrad.compile.quick import quick
from funcgrad.core import Primitive
from funcgrad.inline import NotPrintableError, Program
from funcgrad.ops import from_scipy, special
from funcgrad.ops.structural import broadcast_to
from funcgrad.short import summed

from . import modes, sites, templates
from .base import UNCOUNTED, TensorBase
from .deferring import asks
from .errors import require_unwritten, second_backward
from .node import IDLE, NOTHING, AccumulateGrad, Freed, Saved, next_number
from .printed_nodes import BinaryNode, TotalNode, UnaryNode
from .sums import Sum
from .views import edge

ndarray = np.ndarray
_F = TypeVar("_F", bound=Callable[..., Any])
Options = dict[str, Any]  # keyword parameters of a function and their usual values

_F64 = np.dtype("float64")


def _summed(x: ndarray, shape: tuple[int, ...]) -> ndarray:
    """As `sum_to`, which takes longer to see that the rows of a matrix are summed, as for a bias."""
    found = x.shape
    if found == shape:
        return x
    if len(shape) == 1 and found[1:] == shape:
        return summed(x, (0,))
    return sum_to(x, shape)


_GLOBALS: dict[str, Any] = {
    "AccumulateGrad": AccumulateGrad,
    "Freed": Freed,
    "GRAD": modes.GRAD,
    "IDLE": IDLE,
    "NOTHING": NOTHING,
    "NO_GRAD": modes.NO_GRAD,
    "OWN": sites.OWN,
    "Sum": Sum,
    "Saved": Saved,
    "UNCOUNTED": UNCOUNTED,
    "user_code": None,  # the code that called last, if it is not ours
    "asarray": np.asarray,
    "dot": dot,
    "edge": edge,
    "f32": np.dtype("float32"),
    "f64": _F64,
    "frame": sys._getframe,
    "mode": modes.get,
    "ndarray": ndarray,
    "next_number": next_number,
    "second_backward": second_backward,
    "site": sites.site,
    "require_unwritten": require_unwritten,
    "sum_to": _summed,
    "__name__": __name__,
}


# NOTE [Numbers] A Python number in an operation is kept as a 0-d array of the tensor's dtype, with
# which NumPy is twice as fast. Zeros are not kept, since 0.0 and -0.0 are the same key.
_numbers_32: dict[float, ndarray] = {}
_numbers_64: dict[float, ndarray] = {}


def number_array(number: float, dtype: Any) -> ndarray:
    """The number as a 0-d array, remembered."""
    made = np.array(number, dtype)
    kept = _numbers_64 if dtype == np.float64 else _numbers_32
    if len(kept) > 4096:
        kept.clear()
    if number:
        kept[number] = made
    return made


# What stands for functions that NumPy and SciPy compute one element at a time, by identity.
_quick = {id(f): quick(f, lambda f=f: f, ["float64"]) for f in (np.sin, np.cos)}  # type: ignore


def _quick_special(prim: Primitive) -> Callable[..., Any]:
    """The implementation of a special function."""
    ufunc = functools.partial(from_scipy.scipy_if_there, "", prim.name)
    found = quick(functools.partial(prim.impl, np), ufunc, ["float32", "float64"])
    return lambda xp, x: found(x)


_quick |= {id(p.impl): _quick_special(p) for p in (special.erf, special.erfc, special.ndtr)}


_GLOBALS |= {
    "number_array": number_array,
    "numbers_32": _numbers_32,
    "numbers_64": _numbers_64,
}


# ---------------------------------------------------------------- filling them in


def at_depth(text: str, depth: int) -> str:
    """Lines to stand where a template has a placeholder at that depth."""
    return text.rstrip("\n").replace("\n", "\n" + "    " * depth)


def _product(
    program: Program, coefficient: Any, operands: Sequence[Any], *, same_shape: bool
) -> str:
    """Lines that set `r` to ``g * coefficient``; `same_shape`: all arrays have that of `g`."""
    start = len(program.lines)
    program.numbers.clear()
    c = program.rule(coefficient, operands) if callable(coefficient) else coefficient
    if c.__class__ is Selection:
        del program.lines[start:]
        program.numbers.clear()
        taken = program.rule(lambda g, *xs: g * coefficient(*xs), [program.operand("g"), *operands])
        found = [*number_lines(program, "g.dtype"), *program.lines[start:]]
        return "\n".join([*found, f"r = {program.text(taken)}"])
    if c.__class__ is int and abs(c) == 1:
        return "r = g" if c == 1 else "r = -g"
    factor = program.text(c)
    lines = [*number_lines(program, "g.dtype"), *program.lines[start:]]
    if same_shape and program.is_new_float(c):
        lines += [f"{c.text} *= g", f"r = {c.text}"]
    else:
        lines.append(f"r = g * {factor}")
    return "\n".join(lines)


def _passing_on(coefficient: Any) -> str:
    return (
        templates.PASS_ON
        if coefficient.__class__ is int and coefficient == 1
        else templates.PASS_ON_NEW
    )


def _forward(program: Program, prim: Elementwise, operands: Sequence[Any]) -> str:
    start = len(program.lines)
    program.numbers.clear()
    z = program.apply(prim, operands, {})
    return "\n".join([*number_lines(program, "dtype"), *program.lines[start:], f"z = {z.text}"])


def number_lines(program: Program, dtype: str) -> list[str]:
    """Lines that bind the numbers of the program's last part to 0-d arrays of the dtype."""
    lines = []
    for name, value in program.numbers.items():
        k = f"k{len(program.constants)}"
        program.constants[f"{k}_32"] = np.array(value, np.float32)
        program.constants[f"{k}_64"] = np.array(value, np.float64)
        lines.append(f"{name} = {k}_64 if {dtype} is f64 else {k}_32")
    return lines


def _signature(
    first: str, options: Options, most: int | None = None, unless: str = ""
) -> dict[str, str]:
    """The parts of a printed function that deal with its parameters and the elements of `x`."""
    tests = [f"{k} is not None" if v is None else f"{k} != {v!r}" for k, v in options.items()]
    tests += [f"{k} is True" for k, v in options.items() if v.__class__ is int and v == 1]
    length = [] if most is None else [f"x.size > {most}"]
    length += [unless] if unless else []
    arguments = ", ".join([first, *(f"{k}={k}" for k in options)])
    return {
        "parameters": ", ".join([first, "*", *(f"{k}={v!r}" for k, v in options.items())])
        if options
        else first,
        "arguments": arguments,
        "unusual": "".join(f" or {test}" for test in [*tests, *length]),
        "or_general": f" if not ({' or '.join(tests)}) else general({arguments})" if tests else "",
    }


def compiled(
    general: Callable[..., Any], source: str, scope: dict[str, Any], node: Any
) -> Callable[..., Any]:
    """The function that `source` defines; its node class gets the `pull`."""
    function = general.__name__
    filename = f"{sites.PRINTED}{function} {node.__name__ if node else 'in place'}>"
    sites.OWN.add(filename)
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    scope = {name: _quick.get(id(value), value) for name, value in scope.items()}
    scope = {**_GLOBALS, **scope, "general": general, "strange": asks(general)}
    if node is not None:
        scope[node.__name__] = node
    _scopes.append(scope)
    exec(compile(source, filename, "exec"), scope)
    if f"{function}_pull" in scope:
        node.pull = scope.pop(f"{function}_pull")
    out = scope[function]
    out.__doc__ = general.__doc__
    out.__module__ = general.__module__
    out.__wrapped__ = general
    return out


_scopes: list[dict[str, Any]] = []


def bind(cls: type[TensorBase]) -> None:
    """Make `cls` the class of the printed functions' results."""
    fresh = functools.partial(TensorBase.__new__, cls)
    for scope in (_GLOBALS, *_scopes):
        scope |= {"Tensor": cls, "fresh": fresh}


def source(function: Any) -> str:
    """The source of a printed function.

    Raises: ValueError: it has no printed fast path.
    """
    name = getattr(getattr(function, "__code__", None), "co_filename", "")
    if not name.startswith(sites.PRINTED):
        shown = getattr(function, "__name__", repr(function))
        raise ValueError(f"{shown} has no printed fast path")
    return "".join(linecache.getlines(name))


def node_of(name: str, base: type, prim: Primitive | None, **facts: Any) -> Any:
    return type(name, (base,), {"__slots__": (), "prim": prim, **facts})


def _unary(
    prim: Elementwise,
    general: Callable[..., Any],
    node_name: str,
    operands: tuple[str, ...],
    options: Options,
    depth: int,
    most: int | None = None,
    unless: str = "",
) -> Callable[..., Any]:
    """Print a function of one tensor, whose operands are called "x", "y" and the number "other"."""
    at, count = next(i for i, name in enumerate(operands) if name != "other"), len(operands)
    program = Program()
    symbols = [program.operand(name) for name in operands]
    x = operands[at]
    wanted = [i == at for i in range(count)]
    save_ans, save_xs = prim.saves(wanted)
    try:
        forward = _forward(program, prim, symbols)
        z = program.operand("z")
        rule = _product(program, prim.rules[at], [z, *symbols], same_shape=True)
    except NotPrintableError:
        return general
    if save_ans and save_xs[at]:
        return general
    name = "z" if save_ans else x if save_xs[at] else ""
    save = "n.saved = NOTHING"
    if name:
        save = f"n.saved = {name}\n"
        if save_ans:
            save += "n.counter = c\nn.version = 0"
        else:
            save += "n.counter = c = input._counter\nn.version = c[0]"
    if count == 2:
        forward = templates.BIND_NUMBER + forward
        save += "\nn.number = other"
        rule = "other = n.number\n" + rule
    unpack, free = "pass", ""
    if name:
        unpack = templates.UNPACK_ONE.format(name=name, is_ans=save_ans)
        rule = templates.GUARDED.format(rule=at_depth(rule, 1))
        free = templates.FREE.format(names="n.saved")
    source = templates.UNARY.format(
        function=general.__name__,
        node=node_name,
        depth=depth,
        x=x,
        check=templates.CHECK_NUMBER if count == 2 and depth == 1 else "",
        forward=at_depth(forward, 1),
        save=at_depth(save, 1),
        unpack=at_depth(unpack, 1),
        rule=at_depth(rule, 1),
        pass_on=_passing_on(prim.rules[at]).format(edge="e"),
        free=free,
        **_signature("input, other" if count == 2 else "input", options, most, unless),
    )
    node = node_of(node_name, UnaryNode, prim, reads_ans=save_ans, at=at, count=count)
    return compiled(general, source, program.constants, node)


def _spread(xp: Any, x: Any, *, shape: tuple[int, ...]) -> ndarray:
    """As `broadcast_to` of a number, but small arrays are filled: NumPy is slow to read a view."""
    if math.prod(shape) > 1000:
        return broadcast_to.impl(xp, x, shape=shape)
    out = np.empty(shape, x.dtype)
    out.fill(x)
    return out


def total(prim: Any, node_name: str) -> Callable[[_F], _F]:
    """Give the decorated reduction a fast path for all axes, where it runs the linear `prim`."""

    def decorate(general: Any) -> Any:
        node = node_of(node_name, TotalNode, prim)
        program = Program()
        z = program.implementation(prim, [program.flat("x")], {"axis": (0,)})
        forward = "\n".join([*program.lines, f"z = {z.text}"])
        program.lines.clear()
        spread = functools.partial(prim.rules[0], axis=(0,))
        r = program.rule(spread, [program.operand("g", 0), program.flat("x")])
        rule = "\n".join([*program.lines, f"r = {r.text}"])
        source = templates.TOTAL.format(
            function=general.__name__,
            node=node_name,
            depth=1,
            forward=at_depth(forward, 1),
            rule=at_depth(rule, 1),
        )
        scope = {**program.constants, "broadcast_to_impl": _spread}
        return compiled(general, source, scope, node)

    return decorate


def unary(
    prim: Any, node_name: str, *, most: int | None = None, unless: str = "", **options: Any
) -> Callable[[_F], _F]:
    """Give the decorated function, of one tensor, a fast path that runs the elementwise `prim`.

    `options` are its keyword parameters with the values for which the primitive alone is run;
    tensors of more than `most` elements, or with `unless`, a condition on the array `x` in the
    source, are left to the function.
    """
    return lambda general: _unary(prim, general, node_name, ("x",), options, 1, most, unless)  # type: ignore


def of_number(prim: Any, node_name: str) -> Callable[[_F], _F]:
    """Give the decorated function, `prim` of a tensor and most often a number, a fast path for that."""
    return lambda general: _unary(prim, general, node_name, ("x", "other"), {}, 1)  # type: ignore


def reflected(prim: Any, node_name: str) -> Callable[[_F], _F]:
    """Give the decorated function, `prim` of a number and a tensor (input), a fast path."""

    def decorate(general: Any) -> Any:
        fast = _unary(prim, general, node_name, ("other", "y"), {}, 2)

        @functools.wraps(general)
        def choose(input: Any, other: Any) -> Any:
            cls = other.__class__
            return fast(input, other) if cls is float or cls is int else general(input, other)

        return choose

    return decorate


def binary(
    prim: Any,
    node_name: str,
    number_node: str | None = None,
    *,
    most: int | None = None,
    **options: Any,
) -> Callable[[_F], _F]:
    """Give the decorated function, of a tensor and a tensor or number, a fast path.

    `number_node` is the name of the node if the second operand is a number; None if it may be none.
    `most`: as for `unary`, of the first operand.
    """
    return lambda general: _binary(prim, general, node_name, number_node, options, most)  # type: ignore


def product(prim: Any, node_name: str, **options: Any) -> Callable[[_F], _F]:
    """Give the decorated function a fast path for two matrices, where it runs the bilinear `prim`."""

    def decorate(general: Any) -> Any:
        program = Program()
        g, x, y = (program.operand(name, 2) for name in "gxy")
        start = len(program.lines)
        z = program.apply(prim, [x, y], {})
        forward = "\n".join([*program.lines[start:], f"z = {z.text}"])
        rules = []
        for rule in prim.rules:
            start = len(program.lines)
            r = program.rule(rule, [g, x, y])
            rules.append("\n".join([*program.lines[start:], f"r = {r.text}"]))
        parts = {
            "numbers": "",
            "shapes": "(shape, y.shape)",
            **_signature("input, other", options),
        }
        parts["unusual"] = " or x.ndim != 2 or y.ndim != 2" + parts["unusual"]
        pulls = [
            f"{text}\n" + textwrap.dedent(templates.PASS_ON_NEW).format(edge=f"e{name}")
            for name, text in zip("xy", rules, strict=True)
        ]
        return _two_operands(prim, general, node_name, program, forward, pulls, parts, {})

    return decorate


def in_place(ufunc: Any, **options: Any) -> Callable[[_F], _F]:
    """Give the decorated function, ``input op= other``, a fast path for when nothing is recorded."""

    def decorate(general: Any) -> Any:
        source = templates.IN_PLACE.format(
            function=general.__name__, ufunc=ufunc.__name__, **_signature("input, other", options)
        )
        return compiled(general, source, {ufunc.__name__: ufunc}, None)

    return decorate


def _binary(
    prim: Any,
    general: Callable[..., Any],
    node_name: str,
    number_node: str | None,
    options: Options,
    most: int | None,
) -> Callable[..., Any]:
    program = Program()
    x, y, z = map(program.operand, "xyz")
    try:
        forward = _forward(program, prim, [x, y])
        rules = [_product(program, rule, [z, x, y], same_shape=False) for rule in prim.rules]
    except NotPrintableError:
        return general
    scope: dict[str, Any] = {}
    if number_node is not None:
        scope["with_number"] = _unary(prim, general, number_node, ("x", "other"), {}, 2)
    pulls = [
        f"{text}\nif shapes is not None and shapes[{i}] != g.shape:\n    r = sum_to(r, shapes[{i}])\n"
        + textwrap.dedent(_passing_on(rule)).format(edge=f"e{name}")
        for i, (name, rule, text) in enumerate(zip("xy", prim.rules, rules, strict=True))
    ]
    parts = _signature("input, other", options, most)
    parts |= {
        "numbers": templates.NUMBERS.format(**parts) if number_node is not None else "",
        "shapes": "None if y.shape == shape else (shape, y.shape)",
    }
    twice = _twice(prim, rules)
    return _two_operands(prim, general, node_name, program, forward, pulls, parts, scope, twice)


def _twice(prim: Any, rules: Sequence[str]) -> str:
    """The shortcut for ``x op x``, if both rules are then the same and make a new array."""
    texts = set()
    for rule in prim.rules:
        program = Program()
        z, x = program.operand("z"), program.operand("x")
        texts.add(_product(program, rule, [z, x, x], same_shape=False))
    if len(texts) > 1 or texts & {"r = g", "r = -g"}:
        return ""
    return templates.TWICE.format(rule=at_depth(rules[0], 1))


def _two_operands(
    prim: Any,
    general: Callable[..., Any],
    node_name: str,
    program: Program,
    forward: str,
    pulls: list[str],
    parts: dict[str, str],
    scope: dict[str, Any],
    twice: str = "",
) -> Callable[..., Any]:
    """Fill in the template of functions of two tensors; the rest is what their node saves."""
    needs = [prim.saves(w) for w in ((True, False), (False, True))]
    reads, save, unpack = "", [], []
    for name, needed in (
        ("z", [n[0] for n in needs]),
        ("x", [n[1][0] for n in needs]),
        ("y", [n[1][1] for n in needs]),
    ):
        if not any(needed):
            continue
        reads += name
        owner = {"z": "t", "x": "input", "y": "other"}[name]
        value = name
        if not all(needed):
            value += f" if {'ex' if needed[0] else 'ey'} is not None else None"
        save += [
            f"n.{name} = {value}",
            f"n.{name}_counter = c = {owner}._counter",
            f"n.{name}_version = c[0]",
        ]
        unpack.append(templates.UNPACK.format(name=name, is_ans=name == "z").rstrip())
    rules = templates.RULES.format(pull_x=at_depth(pulls[0], 1), pull_y=at_depth(pulls[1], 1))
    rules = twice + rules
    free = ""
    if reads:
        rules = templates.GUARDED.format(rule=at_depth(rules, 1))
        free = templates.FREE.format(names=" = ".join(["n.saved", *(f"n.{r}" for r in reads)]))
    source = templates.BINARY.format(
        function=general.__name__,
        node=node_name,
        depth=1,
        forward=at_depth(forward, 2),
        save=at_depth("\n".join(["n.saved = None" if reads else "n.saved = NOTHING", *save]), 1),
        unpack=at_depth("\n".join(unpack) or "pass", 1),
        rules=at_depth(rules, 1),
        free=free,
        **parts,
    )
    node = node_of(node_name, BinaryNode, prim, reads=reads)
    return compiled(general, source, {**program.constants, **scope}, node)
