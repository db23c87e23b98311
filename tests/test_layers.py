"""The architecture as data: imports only go down, and inside a layer they form no cycle.

The picture is the one in `funcgrad/README.md`. A module's layer is that of the longest prefix of its
name in `LAYERS`.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

LAYERS: dict[str, float] = {
    "funcgrad.errors": 0,
    "funcgrad.backend": 0,
    "funcgrad.choose": 0,
    "funcgrad.faster": 0,
    "funcgrad.half": 0,
    "funcgrad.forks": 0,
    "funcgrad.locks": 0,
    "funcgrad.memory": 0,
    "funcgrad.modulus": 0,
    "funcgrad.quiet": 0,
    "funcgrad.short": 0,
    "funcgrad.sliding": 0,
    "funcgrad.thin": 0,
    "funcgrad.tree": 0,
    "funcgrad.tree_keys": 0,
    "funcgrad.treedef": 0,
    "funcgrad.typing": 0,
    "funcgrad.weak": 0,
    "funcgrad.stand_in": 0,
    "funcgrad.core": 1,
    "funcgrad.jaxpr": 1,
    "funcgrad.views": 1,
    "funcgrad.algebra": 2,
    "funcgrad.inline": 2,
    "funcgrad.ops": 3,
    "funcgrad.ops.segments": 3.5,
    "funcgrad.numpy": 3.5,
    "funcgrad.scipy": 3.5,
    "funcgrad.scipy.integrate": 4.25,
    "funcgrad.scipy.interpolate": 4.25,
    "funcgrad.scipy.ndimage": 4.25,
    "funcgrad.scipy.optimize": 4.25,
    "funcgrad.scipy.signal": 4.25,
    "funcgrad.scipy.sparse": 5.25,
    "funcgrad.scipy.spatial": 4.25,
    "funcgrad.scipy.stats": 5,
    "funcgrad.scipy._programs": 4.25,
    "funcgrad.nn": 4.25,
    "funcgrad.nn.initializers": 5,
    "funcgrad.indexing": 3.5,
    "funcgrad.protocols": 3.5,
    "funcgrad.ufunc_methods": 3.5,
    "funcgrad.array": 3.75,
    "funcgrad.array_methods": 3.75,
    "funcgrad.transforms": 4,
    "funcgrad.device": 1,
    "funcgrad.flatten_util": 4,
    "funcgrad.tree_util": 5,
    "funcgrad.compile": 4.5,
    "funcgrad": 5,
    "funcgrad.random": 5,
    "funcgrad.image": 5,
    "funcgrad.lax": 5,
    "funcgrad.optim": 5,
    "funcgrad.viz": 5,
    "funcgrad.datasets": 5,
    "funcgrad.debug": 5,
    "funcgrad.testing": 5,
    "funcgrad.__main__": 5,
    "funcgrad.autograd": 5.5,
    "funcgrad.jax": 5.5,
    "compat.dtypes": 6,
    "compat.cuda": 6,
    "compat.cuda.amp": 8,
    "compat.cuda.nvtx": 8,
    "compat.size": 6,
    "compat.storage": 6,
    "compat.utils.hooks": 6,
    "compat.autograd": 6.5,
    "compat.ops": 7,
    "compat.printing": 7,
    "compat.linalg": 7.2,
    "compat._tensor": 7.5,
    "compat": 8,
    "compat.mygrad": 8.5,
}

MAX_LINES = 600


def modules(root: Path = ROOT) -> dict[str, Path]:
    """Every module of the packages by its dotted name."""
    found = {}
    for package in ("funcgrad", "compat"):
        for path in sorted((root / package).rglob("*.py")):
            parts = path.relative_to(root).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def layer(name: str) -> float:
    """The layer of a module.

    Raises: KeyError: the module is in no layer.
    """
    prefix = name
    while prefix not in LAYERS:
        prefix, dot, _ = prefix.rpartition(".")
        if not dot or prefix == "funcgrad":  # a new module of the package needs a line of its own
            raise KeyError(f"{name} is in no layer: add it to LAYERS")
    return LAYERS[prefix]


def targets(node: ast.AST, name: str, known: dict[str, Path]) -> Iterator[str]:
    """Our modules that an import statement of module `name` loads."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            package = name if known[name].name == "__init__.py" else name.rpartition(".")[0]
            for _ in range(node.level - 1):
                package = package.rpartition(".")[0]
            base = f"{package}.{base}" if base else package
        # ``from . import numpy`` loads a module, ``from .core import Aval`` a name of one
        names = [
            f"{base}.{alias.name}" if f"{base}.{alias.name}" in known else base
            for alias in node.names
        ]
    else:
        return
    yield from (n for n in dict.fromkeys(names) if n in known)


def only_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(name: str, known: dict[str, Path], *, inside_functions: bool) -> list[str]:
    """Our modules that `name` imports when it is loaded, or later, inside its functions."""
    found: list[str] = []

    def visit(node: ast.AST, inside: bool) -> None:
        if only_for_types(node):
            return
        if inside == inside_functions:
            found.extend(targets(node, name, known))
        inside = inside or isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        for child in ast.iter_child_nodes(node):
            visit(child, inside)

    visit(parsed(known[name]), False)
    return [n for n in found if n != name]


@functools.cache
def loaded(name: str) -> list[str]:
    """Our modules that one of ours imports when it is loaded."""
    return imports(name, MODULES, inside_functions=False)


# ---------------------------------------------------------------- the rules


def test_imports_go_down() -> None:
    up = [
        f"{name} (layer {layer(name)}) imports {n} (layer {layer(n)})"
        for name in MODULES
        for n in loaded(name)
        if layer(n) > layer(name)
    ]
    assert up == []


def test_no_late_import_of_our_own_modules() -> None:
    late = {name: imports(name, MODULES, inside_functions=True) for name in MODULES}
    assert {name: found for name, found in late.items() if found} == {}


def test_no_import_cycle() -> None:
    assert find_cycle({name: loaded(name) for name in MODULES}) == []


def find_cycle(graph: dict[str, list[str]]) -> list[str]:
    """The modules of one cycle in order, or nothing."""
    finished: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name not in finished:
            for other in graph[name]:
                cycle = walk(other, [*path, name])
                if cycle:
                    return cycle
            finished.add(name)
        return []

    return next((cycle for name in graph if (cycle := walk(name, []))), [])


def packages_named(path: Path) -> set[str]:
    """The packages that import statements of a file name."""
    nodes = list(ast.walk(parsed(path)))
    names = [a.name for n in nodes if isinstance(n, ast.Import) for a in n.names]
    names += [n.module or "" for n in nodes if isinstance(n, ast.ImportFrom)]
    return {n.partition(".")[0] for n in names}


def test_funcgrad_does_not_know_compat() -> None:
    below = {name: path for name, path in MODULES.items() if name.startswith("funcgrad")}
    assert [name for name, path in below.items() if "compat" in packages_named(path)] == []


def implementations(name: str) -> Iterator[ast.FunctionDef]:
    """The implementations of primitives: decorated functions whose first parameter is `xp`."""
    for node in ast.walk(parsed(MODULES[name])):
        if isinstance(node, ast.FunctionDef) and node.decorator_list:
            parameters = [*node.args.posonlyargs, *node.args.args]
            if parameters and parameters[0].arg == "xp":
                yield node


def test_implementations_use_the_operands_array_module() -> None:
    bad = [
        f"{name}.{impl.name} (line {node.lineno})"
        for name in MODULES
        for impl in implementations(name)
        for statement in impl.body
        for node in ast.walk(statement)
        if isinstance(node, ast.Name)
        and node.id in ("np", "numpy", "scipy")
        and node not in _allowed(statement)
    ]
    assert bad == [], "an implementation names numpy instead of xp"


# What of NumPy computes with no array: types, limits, error handling.
HARMLESS = {
    *("np.dtype", "np.finfo", "np.iinfo", "np.errstate", "np.linalg.LinAlgError"),
    *("np.float32", "np.float64", "np.int64", "np.uint64", "np.uint32"),
}


def _allowed(statement: ast.stmt) -> set[ast.AST]:
    return {
        inner
        for node in ast.walk(statement)
        if isinstance(node, ast.Attribute) and ast.unparse(node) in HARMLESS
        for inner in ast.walk(node)
    }


def test_implementations_are_found() -> None:
    assert sum(1 for name in MODULES for _ in implementations(name)) >= 100


def test_file_size() -> None:
    lines = {n: len(path.read_text(encoding="utf-8").splitlines()) for n, path in MODULES.items()}
    assert {n: count for n, count in lines.items() if count > MAX_LINES} == {}, "split by family"


# ---------------------------------------------------------------- the rules can fail


@pytest.fixture
def bad_package(tmp_path: Path) -> dict[str, Path]:
    """A package that breaks every rule about imports."""
    files = {
        "funcgrad/__init__.py": "",
        "funcgrad/core.py": "from .array import x\nfrom . import views",
        "funcgrad/views.py": "from .core import y",
        "funcgrad/array.py": "def f():\n    from . import core\n",
        "funcgrad/ops/__init__.py": "",
        "funcgrad/ops/a.py": "from ..core import y\nfrom . import b\nimport funcgrad.views",
        "funcgrad/ops/b.py": "if TYPE_CHECKING:\n    from .a import z\n",
        "compat/__init__.py": "",
    }
    for place, text in files.items():
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    return modules(tmp_path)


def test_imports_are_recognised(bad_package: dict[str, Path]) -> None:
    found = {n: imports(n, bad_package, inside_functions=False) for n in bad_package}
    assert found["funcgrad.core"] == ["funcgrad.array", "funcgrad.views"]
    assert found["funcgrad.ops.a"] == ["funcgrad.core", "funcgrad.ops.b", "funcgrad.views"]
    assert found["funcgrad.ops.b"] == []
    assert imports("funcgrad.array", bad_package, inside_functions=True) == ["funcgrad.core"]
    assert packages_named(bad_package["funcgrad.ops.a"]) == {"core", "", "funcgrad"}
    assert sorted(find_cycle(found)) == ["funcgrad.core", "funcgrad.views"]


def test_an_unknown_module_is_in_no_layer() -> None:
    with pytest.raises(KeyError, match=r"funcgrad\.stray"):
        layer("funcgrad.stray")
    assert layer("funcgrad.ops.index") == 3
    assert layer("compat.nn.linear") == 8
