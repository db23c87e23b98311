"""The system's C compiler: found once, and what it made is kept on disk.

Layer 4½. Loops are loaded as NumPy ufuncs through NumPy's own C interface, by `ctypes`, so calling
one costs what calling `np.add` does. Nothing here changes the process's floating-point state: the
flags keep IEEE arithmetic. What cannot be compiled or loaded is None, and then there is no C.

NOTE [Constants in memory] A library's constants are loaded when one is first read. Compilers read them
under a mask, as in ``x == 0 ? 1.0 : x``; where no element takes the constant, nothing is loaded and the
processor tries again in every turn, some 400 cycles each time. So they are read once.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import hashlib
import os
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import c_flags, c_special, c_wide
from .c_source import HELPERS, VECTORISED, Kernel, prototypes, sources

# Whole vectors: tuned for a processor, compilers often take halves. GCC knows it since its version 8.
WIDE = "-mprefer-vector-width=512"
FLAGS = [
    "-O3",
    "-march=native",
    *([WIDE] if platform.machine() == "x86_64" else []),
    "-fopenmp-simd",
    "-fno-builtin",
    "-fno-math-errno",
    "-fno-trapping-math",
    # What would move calls into the branches of a selection, where they are no vectors any more.
    "-fno-tree-sink",
    "-fno-tree-pre",
    "-fno-thread-jumps",
    # What looks for common subexpressions: programs have none, and it takes a quarter of the time.
    "-fno-gcse",
    "-fno-gcse-after-reload",
    # By which GCC 12 takes the least of two truth values for the largest, past the last whole vector.
    "-fno-tree-slp-vectorize",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-strict-aliasing",
    "-shared",
    "-fPIC",
    "-w",
]
APPLES = "-mcpu=native"  # what -march=native is where Clang compiles for ARM
SECONDS = 60  # that the compiler may take
SECONDS_TO_END = 5  # once it is told to
PLAIN = f"#include <math.h>\n{HELPERS}"


def cache_folder() -> Path:
    """Where compiled loops are kept: `FUNCGRAD_CACHE`, or `funcgrad` in the user's cache folder."""
    named = os.environ.get("FUNCGRAD_CACHE")
    if named:
        return Path(named)
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    if base.startswith("~"):  # the user has no home, so there is no such folder
        base = os.devnull
    return Path(base) / "funcgrad"


@functools.cache
def compiler() -> tuple[str, str] | None:
    """The compiler's path, and what tells its results from those of another machine's."""
    path = shutil.which(os.environ.get("CC") or "cc")
    if path is None:
        return None
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=SECONDS)
    except (OSError, subprocess.SubprocessError):
        return None
    cpu = platform.machine() + platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        cpu += next((line for line in lines if line.startswith(("flags", "Features"))), "")
    except OSError:
        pass
    return path, done.stdout + cpu if done.returncode == 0 else path


def is_clang() -> bool:
    """Whether the compiler is Clang, as it is on macOS."""
    found = compiler()
    return found is not None and "clang" in found[1]


def _version() -> int:
    """GCC's; the one that is usual where it does not say."""
    found = re.search(r"\) (\d+)\.", (compiler() or ("", ""))[1])
    return int(found[1]) if found else 12


@functools.cache
def _flags() -> list[str]:
    """What the compiler takes of `FLAGS`, which are GCC's; Clang refuses what it does not know."""
    if not is_clang():
        return [flag for flag in FLAGS if flag != WIDE or _version() >= 8]
    found = [flag for flag in FLAGS if _takes(flag)]
    return found if "-march=native" in found or not _takes(APPLES) else [*found, APPLES]


def _takes(flag: str) -> bool:
    path, _ = compiler() or ("", "")
    return _succeeds([path, flag, "-x", "c", "-c", "-", "-o", os.devnull], "int x;\n")


@functools.cache
def _prelude() -> str | None:
    """The declarations that this compiler and its C library take; None if there is no compiler.

    Clang calls no functions for vectors from their declarations, so it gets plain ones.
    """
    probe = "void probe(double *x, double *y, long n) {\n#pragma omp simd\n"
    probe += "for (long i = 0; i < n; i++) y[i] = "
    vectors = prototypes() + HELPERS, " + ".join(f"{f}(x[i])" for f in VECTORISED)
    for declared, calls in [vectors, (PLAIN, "exp(x[i])")][is_clang() :]:
        if library_of(f"{declared}{probe}{calls};\n}}\n") is not None:
            return declared
    return None


def has_vector_functions() -> bool:
    """Whether there is a compiler, and its C library has functions for vectors."""
    return _prelude() not in (None, PLAIN)


def library_of(text: str, *, may_build: bool = True) -> ctypes.CDLL | None:
    """The shared library of a C source; None if that cannot be had."""
    found = compiler()
    if found is None:
        return None
    path, machine = found
    key = hashlib.sha256("\0".join([text, machine, *FLAGS]).encode()).hexdigest()[:32]
    name = f"{key}.so"
    try:
        return _library_in(cache_folder(), name, path, text, may_build)
    except OSError:  # it cannot be written: in a folder that is gone once the library is loaded
        with (
            contextlib.suppress(OSError),
            tempfile.TemporaryDirectory("-funcgrad", ignore_cleanup_errors=True) as folder,
        ):
            return _library_in(Path(folder), name, path, text, may_build)
    return None


def _library_in(
    folder: Path, name: str, path: str, text: str, may_build: bool
) -> ctypes.CDLL | None:
    """The library in a folder, made by the compiler at `path` if it is not there and may be.

    Raises: OSError: the folder cannot be used.
    """
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / name
    if not target.exists() and not (may_build and _build(path, text, folder, target)):
        return None
    try:
        return _opened(target)
    except OSError:  # half a file, or of another system: made anew
        target.unlink()
        return _opened(target) if _build(path, text, folder, target) else None


def _opened(target: Path) -> ctypes.CDLL:
    """The library, with its constants in memory; see NOTE [Constants in memory]."""
    library = ctypes.CDLL(str(target))
    try:
        mapped = Path("/proc/self/maps").read_text().splitlines()
    except OSError:  # no Linux
        return library
    for line in mapped:
        if line.endswith(f"/{target.name}") and " r--p " in line:
            first, end = (int(x, 16) for x in line.split()[0].split("-"))
            ctypes.string_at(first, end - first)
    return library


def _build(path: str, text: str, folder: Path, target: Path) -> bool:
    """Compile into `target`, which appears whole or not at all."""
    handle, made = tempfile.mkstemp(suffix=".so", dir=folder)
    os.close(handle)
    command = [path, *_flags(), "-x", "c", "-", "-o", made, *_LIBRARIES]
    try:
        if not _succeeds(command, text):
            return False
        os.replace(made, target)
        return True
    finally:
        if os.path.exists(made):
            os.unlink(made)


def _succeeds(command: Sequence[str], text: str) -> bool:
    """Whether a compiler takes a text in time; else nothing of it is left, which has processes of its
    own and temporary files: these it deletes when it is asked to end.
    """
    devnull = subprocess.DEVNULL
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=devnull, stderr=devnull, start_new_session=True
    ) as process:
        try:
            process.communicate(text.encode(), timeout=SECONDS)
        except subprocess.TimeoutExpired:
            return False
        finally:
            if process.poll() is None:
                _end(process)
    return process.returncode == 0


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a process and those that it has started."""
    if not hasattr(os, "killpg"):
        process.kill()
        return
    for sent in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(OSError):  # which is what a group that has ended gives
            os.killpg(process.pid, sent)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(SECONDS_TO_END)


_LIBRARIES = (
    ["-lmvec", "-lm"] if sys.platform == "linux" and platform.machine() == "x86_64" else ["-lm"]
)


# ---------------------------------------------------------------- ufuncs

_alive: list[Any] = []  # what NumPy's ufuncs point to


@functools.cache
def _makers() -> tuple[Any, Any]:
    """NumPy's `PyUFunc_FromFuncAndData` and `...AndSignature`: entries 1 and 31 of its table."""
    get = ctypes.pythonapi.PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    capsule = np._core._multiarray_umath._UFUNC_API  # type: ignore[attr-defined]
    table = ctypes.cast(get(capsule, None), ctypes.POINTER(ctypes.c_void_p))
    pointers, numbers, texts = [ctypes.c_void_p] * 3, [ctypes.c_int] * 4, [ctypes.c_char_p] * 2
    plain = ctypes.PYFUNCTYPE(ctypes.py_object, *pointers, *numbers, *texts, ctypes.c_int)
    with_signature = ctypes.PYFUNCTYPE(
        ctypes.py_object, *pointers, *numbers, *texts, ctypes.c_int, ctypes.c_char_p
    )
    return plain(table[1]), with_signature(table[31])


def load(kernels: Sequence[Kernel], *, may_build: bool = True) -> list[Any] | None:
    """The kernels as functions of arrays; None where there is no compiler, or it fails.

    `may_build`: else only what is on disk, which takes milliseconds.
    """
    prelude = _prelude()
    if prelude is None:
        return None
    text = sources(kernels)
    library = library_of(prelude + c_special.declared(text) + text, may_build=may_build)
    if library is None:
        return None
    c_special.bind(library, text)
    made = {name: _ufunc(library, k) for name, k in {k.name: k for k in kernels}.items()}
    return [made[k.name] for k in kernels]


def _ufunc(library: ctypes.CDLL, kernel: Kernel) -> Any:
    function: Any = ctypes.cast(getattr(library, kernel.name), ctypes.c_void_p).value
    signature, wide = kernel.signature, kernel.is_wide
    inputs, outs = kernel.inputs, kernel.outs
    facts = c_flags.facts(function, inputs, outs, signature, wide, kernel.text)
    functions = (ctypes.c_void_p * 1)(_quietly() or function)
    data = (ctypes.c_void_p * 1)(ctypes.addressof(facts))
    sides = ([v.dtype for v in values] for values in (inputs, outs))
    given, made = c_wide.SIDES if wide else sides
    numbers = [dtype.num for dtype in (*given, *made)]
    types = (ctypes.c_char * len(numbers))(*numbers)
    name = ctypes.create_string_buffer(kernel.title().encode())
    doc = ctypes.create_string_buffer(b"")
    told = (functions, data, types, 1, len(given), len(made), -1, name, doc, 0)
    plain, with_signature = _makers()
    if signature is None:
        ufunc = plain(*told)
    else:
        axes = ctypes.create_string_buffer(signature.encode())
        ufunc = with_signature(*told, axes)
        _alive.append(axes)
    _alive.append((library, functions, data, facts, types, name, doc))
    return kernel.caller(ufunc)


@functools.cache
def _quietly() -> int | None:
    """The address of what is called in front of loops; None where it cannot be compiled."""
    library = library_of(c_flags.TEXT)
    return None if library is None else ctypes.cast(library.quietly, ctypes.c_void_p).value
