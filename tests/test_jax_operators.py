"""After `funcgrad.jax.install` `x += y` makes new arrays in code for JAX, and indices are traced."""

from __future__ import annotations

import subprocess
import sys

SCRIPT = """
import types
import numpy as np

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "@", "<<", ">>", "&", "|", "^"]
TEXT = "def f(x, y):\\n    before = x\\n    x {}= y\\n    return before, x"

def made(op, head=""):
    module = types.ModuleType("made")
    exec(head + TEXT.format(op), module.__dict__)
    return module.f

heads = ["import jax\\n", "from jax import lax\\n", "import jax.numpy as jnp\\n"]
before = dict(vars(np.ndarray))
import funcgrad, funcgrad.jax, funcgrad.numpy as fnp

def ways(f):
    yield f
    yield funcgrad.jit(f)
    yield lambda x, y: funcgrad.vmap(f)(x[None], y[None])
    yield lambda x, y: funcgrad.jvp(lambda x: f(x, y), (x,), (x,))[0]

funcgrad.jax.install()
for op in OPERATORS:
    kind = int if op in "<<>>&|^" else float
    x, y = np.eye(2, dtype=kind) + 4, np.full((2, 2), 2, kind)
    new = eval(f"x {op} y")
    for f in [made(op, head) for head in heads]:
        for way in ways(f) if kind is float else [f]:
            old, found = way(x.copy(), y)
            assert np.array_equal(np.reshape(old, (2, 2)), x), op
            assert np.allclose(np.reshape(found, (2, 2)), new), op
    old, found = made(op)(x.copy(), y)  # this is not for JAX
    assert old is found and np.allclose(found, new), op

class Kind(type):
    def __rpow__(cls, x):
        return "raised", x

class Taking(metaclass=Kind):
    pass

for op in OPERATORS:
    name = {"+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod"} | {
        "**": "pow", "@": "matmul", "<<": "lshift", ">>": "rshift", "&": "and", "|": "or", "^": "xor"
    }
    takes = type("Takes", (), {f"__r{name[op]}__": lambda self, x: ("taken", x)})()
    x = np.arange(2)
    for head in heads:
        assert made(op, head)(x, takes)[1] == ("taken", x) and made(op, head)(x, takes)[1][1] is x
    if op != "@":  # this is not for JAX
        assert eval(f"x {op} takes", {"x": x, "takes": takes}).shape == (2,)
assert made("**", "import jax\\n")(x, Taking)[1][0] == "raised"

wide = made("+", "import jax\\n")
assert wide(np.ones((2, 1)), np.ones((2, 3)))[1].shape == (2, 3)
assert wide(np.arange(2), 0.5)[1].dtype == float
try:
    made("+")(np.arange(2), 0.5)
except TypeError as error:
    print(type(error).__name__)

import sys, jax
modules = {}
for name, imported in (
    ("package.arrays", jax),
    ("package.chain", "package.arrays"),  # imports one that has imported jax
    ("package.above", "package.chain"),
    ("script", "package.arrays"),
):
    module = modules[name] = sys.modules[name] = types.ModuleType(name)
    module.imported = modules.get(imported, imported)
    exec(TEXT.format("+"), vars(module))
    old, found = module.f(np.ones(2), 2.0)
    assert (old is not found) == (name in ("package.arrays", "package.chain")), name

sorting = types.ModuleType("sorting")
exec("import jax\\ndef f(x, y): return x, x.sort(**y)", sorting.__dict__)
x = np.array([[2.0, 0.0, 1.0], [5.0, 7.0, 6.0]])
ascending = lambda x, y: sorting.f(x, {})
down = lambda x, y: sorting.f(x, dict(axis=0, descending=True, stable=True))
for way, (old, found) in [(way, way(x, x)) for f in (ascending, down) for way in ways(f)]:
    assert np.array_equal(np.reshape(old, (2, 3)), x)
assert ascending(x, x)[1].tolist() == [[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]]
assert np.array_equal(funcgrad.jit(down)(x, x)[1], x[::-1])
assert funcgrad.grad(lambda x: sorting.f(x, {})[1][0, 2])(x).tolist() == [[1.0, 0.0, 0.0], [0.0] * 3]
plain = types.ModuleType("plain")
exec("def f(x):\\n    x = 1.0 * x\\n    assert x.sort() is None\\n    return x", plain.__dict__)
for way in (lambda f: f, funcgrad.jit):  # this is not for JAX
    assert way(plain.f)(x).tolist() == [[0.0, 1.0, 2.0], [5.0, 6.0, 7.0]]

nearest = types.ModuleType("nearest")
exec("import jax\\ndef f(x, i): return x[i]\\ndef g(x, i): return x[..., i, 0]", nearest.__dict__)
x = np.array([[10.0, 0.0], [11.0, 1.0], [12.0, 2.0]])
mapped = lambda f: lambda x, i: funcgrad.vmap(f, (None, 0))(x, i[None])[0]
for way in (lambda f: f, funcgrad.jit, mapped, lambda f: funcgrad.jit(mapped(f))):
    for i, place in ((5, 2), (-7, 0), (-1, 2), (1, 1), ([5, 0, -7], [2, 0, 0])):
        assert np.array_equal(way(nearest.f)(x, np.asarray(i)), x[place]), i
        assert np.array_equal(way(nearest.g)(x, np.asarray(i)), x[place, 0]), i
    slope = funcgrad.grad(lambda x: fnp.sum(way(nearest.f)(x, np.asarray(5))))(x)
    assert slope.tolist() == [[0.0, 0.0], [0.0, 0.0], [1.0, 1.0]]
plain = types.ModuleType("plain")
exec("def f(x, i): return x[i]", plain.__dict__)  # this is not for JAX
for way in (lambda f: f, funcgrad.jit):
    try:
        raise AssertionError(way(plain.f)(x, np.asarray(5)))
    except IndexError:
        pass

writes = types.ModuleType("writes")
exec('''import jax
def change(name, x, i, v): return getattr(x.at[i], name)(v)
def columns(name, x, i, v): return getattr(x.at[..., i, 1:], name)(v)
def cell(name, x, i, v): return getattr(x.at[i, i - 4], name)(v)''', writes.__dict__)
acts = {"set": lambda a, v: v, "add": np.add, "mul": np.multiply, "max": np.maximum, "power": np.power}
places = {writes.change: lambda i: i, writes.columns: lambda i: (i, slice(1, None))}
places[writes.cell] = lambda i: (i, i - 4)
for way in (lambda f: f, funcgrad.jit, mapped, lambda f: funcgrad.jit(mapped(f))):
    for i in (5, 3, -4, -3, -1, 1):
        for f, place in places.items():
            for name, act in acts.items():
                wanted = x.copy()
                try:
                    wanted[place(i)] = act(wanted[place(i)], 7.5)
                except IndexError:
                    pass
                found = way(lambda x, i: f(name, x, i, 7.5))(x, np.asarray(i))
                assert np.array_equal(found, wanted), (f, name, i)
    several = way(lambda x, i: writes.change("set", x, i, 7.5))(x, np.array([5, 1, -7]))
    assert several.tolist() == [[10.0, 0.0], [7.5, 7.5], [12.0, 2.0]]
    put = lambda x, v, i: fnp.sum(way(lambda x, i: writes.change("set", x, i, v))(x, i))
    by_both = funcgrad.grad(put, (0, 1))
    assert [fnp.sum(g).item() for g in by_both(x, 2.0, np.asarray(5))] == [6.0, 0.0]
    assert [fnp.sum(g).item() for g in by_both(x, 2.0, np.asarray(2))] == [4.0, 2.0]
assert writes.change("set", np.zeros((0, 2)), 0, 1.0).shape == (0, 2)
exec("def write(x, i): return x.at[i].set(1.0)", plain.__dict__)
for way in (lambda f: f, funcgrad.jit):
    try:
        raise AssertionError(way(plain.write)(x, np.asarray(5)))
    except IndexError:
        pass

inside = types.ModuleType("inside")
exec("def f(x):\\n  import jax.numpy\\n  y = x\\n  x += 1.0\\n  return y", inside.__dict__)
assert inside.f(np.zeros(2)).tolist() == [0.0, 0.0]
rows = np.zeros((2, 2))
exec("import jax\\ndef g(z):\\n    z[0] += 1.0", inside.__dict__)
inside.g(rows)
assert rows.tolist() == [[1.0, 1.0], [0.0, 0.0]]

table = np.arange(12.0).reshape(3, 4)
takes = [lambda i: table[i], lambda i: table[i, 1:], lambda i: table[..., i], lambda i: table[(-i,)]]
for take in takes:
    for i in (np.arange(3), np.array([[1], [2]])):
        each = [take(int(n)) for n in i.ravel()]
        assert np.array_equal(funcgrad.vmap(take)(i.ravel()), each)
        assert np.array_equal(funcgrad.jit(take)(i), take(i))
    assert np.array_equal(funcgrad.jit(take)(2), take(2))
assert funcgrad.jit(funcgrad.grad(lambda x, i: (table[i] * x).sum()))(1.0, 1) == 22.0

import jax.tree_util as jax_tree
outer, inner = (jax_tree.tree_structure(x) for x in ([0, (None, 0)], {"a": 0}))
assert outer.compose(inner) == jax_tree.tree_structure([{"a": 1}, (None, {"a": 1})])
assert np.int32.dtype == np.dtype("int32") and np.float32(1).dtype == np.float32.dtype
try:
    table[fnp.zeros]
except IndexError as error:
    print(type(error).__name__)

funcgrad.jax.remove()
try:
    funcgrad.jit(lambda i: table[i])(1)
except funcgrad.errors.HandoverError as error:
    print(type(error).__name__)
for op in OPERATORS:
    kind = int if op in "<<>>&|^" else float
    old, found = made(op, "import numpy as jax\\n")(np.eye(2, dtype=kind) + 4, np.full((2, 2), 2, kind))
    assert old is found, op
assert dict(vars(np.ndarray)) == before
print("done")
"""


def test_code_for_jax_makes_new_arrays_and_other_code_writes() -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    casting, index, handover, done = ran.stdout.split()
    assert (index, handover, done) == ("IndexError", "HandoverError", "done") and "Error" in casting
