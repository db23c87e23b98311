"""What `compat.func` requires of what it is given, and funcgrad's errors in PyTorch's words.

What is checked here raises what PyTorch raises. Whatever else goes wrong inside a transform is found
by funcgrad, which speaks of arrays; `translated` says it of tensors, as a RuntimeError.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from funcgrad import tree
from funcgrad.core import Aval, Tracer, aval_of
from funcgrad.errors import FuncgradError, HandoverError, ShapeError
from funcgrad.transforms.jvp import JVPTracer
from funcgrad.transforms.vmap import BatchTracer

from . import dtypes
from .autograd import modes, sites
from .autograd.base import TensorBase
from .size import Size

# ---------------------------------------------------------------- funcgrad's errors

_AVAL = r"(bool|bf16|[fiuc]\d+)\*?\[([\d,]*)\]"
_KINDS = {"f": "float", "i": "int", "u": "uint", "c": "complex", "bf": "bfloat"}
_WORDS = (
    (re.compile(rf"the traced value \w*(?:Tracer|Array)\({_AVAL}\)"), "a tensor of"),
    (re.compile(rf"(?:a traced value )?\w*(?:Tracer|Array)\({_AVAL}\)"), "a tensor of"),
    (re.compile(_AVAL), ""),
)
_HANDED_OVER = re.compile(r"(?s)(.*?),? would cut the derivative of (.*?); .*?( \(at .*)?$")
_KEEP = (
    "Inside a transform it has to stay a tensor: write torch.stack([...]) for torch.tensor([...]) and "
    "np.array([...]), torch.sin for math.sin, torch.zeros(n) for an np.zeros(n) that is written into"
)
_NAMES = (
    ("in_axes", "in_dims"),
    ("out_axes", "out_dims"),
    ("fnp.", "torch."),
    (".astype(float)", ".float()"),
    (" with holomorphic=False: say holomorphic=True", ": return its real or imaginary part"),
)


def _typed(what: str) -> Callable[[re.Match[str]], str]:
    def words(found: re.Match[str]) -> str:
        letters, digits = re.fullmatch(r"([a-z]+)(\d*)", found[1]).groups()  # type: ignore[union-attr]
        shape = found[2].replace(",", ", ")
        return f"{what} torch.{_KINDS.get(letters, letters)}{digits} [{shape}]".strip()

    return words


def translated(error: FuncgradError) -> Exception:
    """An error of funcgrad's as PyTorch's type, about tensors."""
    text = str(error)
    if isinstance(error, HandoverError):
        text = _HANDED_OVER.sub(r"\1 would take the numbers out of \2. " + _KEEP + r"\3", text)
    for pattern, what in _WORDS:
        text = pattern.sub(_typed(what), text)
    for theirs, ours in _NAMES:
        text = text.replace(theirs, ours)
    missing = isinstance(error, NotImplementedError)
    shapes = isinstance(error, ShapeError) and text.startswith("vmap")
    found = (NotImplementedError if missing else ValueError if shapes else RuntimeError)(text)
    for note in getattr(error, "__notes__", ()):
        found.add_note(note)
    return found


@contextlib.contextmanager
def torchs_words() -> Iterator[None]:
    """Errors of funcgrad's inside are raised as `translated` says, from the same line."""
    try:
        yield
    except FuncgradError as error:
        raise translated(error).with_traceback(error.__traceback__) from None


# ---------------------------------------------------------------- what is differentiated by


def chosen(argnums: Any, args: Sequence[Any]) -> tuple[Any, ...]:
    """The arguments that `argnums` selects.

    Raises: RuntimeError: it is no int or tuple of ints, there is no such argument, or one is twice.
    """
    nums = (argnums,) if isinstance(argnums, int) else argnums
    if not (isinstance(nums, tuple) and all(isinstance(n, int) for n in nums)):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    for n in nums:
        if not -len(args) <= n < len(args):
            raise RuntimeError(f"Got argnum={n}, but only {len(args)} positional inputs")
    if not nums:
        raise RuntimeError("argnums must be non-empty")
    if len({n % len(args) for n in nums}) != len(nums):
        raise RuntimeError(f"argnums elements must be unique, got {nums}")
    return tuple(args[n] for n in nums)


def require_floats(name: str, primals: Any) -> None:
    """Require tensors of numbers that have derivatives.

    Raises: ValueError: something is no tensor. RuntimeError: a tensor of integers; for forward mode a
    ValueError, and for Jacobians also complex numbers.
    """
    forward = name in ("jvp", "jacfwd")
    for i, x in enumerate(tree.leaves(primals)):
        if not isinstance(x, TensorBase):
            raise ValueError(
                f"Thing passed to transform API must be Tensor, got {type(x)}. {name} needs "
                f"torch.tensor(...) where it differentiates."
            )
        dtype = dtypes.of(x._array.dtype)
        if dtype.category < 2 and forward:
            raise ValueError(
                f"Expected primal to be floating point or complex, but got: {dtype}. Convert it with "
                f"x.float()."
            )
        if dtype.category < 2:
            raise RuntimeError(
                f"only Tensors of floating point dtype can require gradients, but {name} got one of "
                f"{dtype}. Convert it with x.float()."
            )
        if dtype.category == 3 and name.startswith("jac"):
            raise RuntimeError(
                f"{name}: Expected all inputs to be real but received complex tensor at flattened "
                f"input idx: {i}"
            )


def require_scalar(out: Any) -> None:
    """Require a tensor without axes, of real numbers.

    Raises: RuntimeError: it is something else.
    """
    if not isinstance(out, TensorBase):
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got {type(out)}"
        )
    if out._array.shape:
        raise RuntimeError(
            f"grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with "
            f"{len(out._array.shape)} dims. Maybe you wanted to use the vjp or jacrev APIs instead?"
        )
    dtype = dtypes.of(out._array.dtype)
    if dtype.category != 2:
        raise RuntimeError(
            f"grad can be implicitly created only for real scalar outputs but got {dtype}"
        )


def require_numbers(name: str, derivatives: Any) -> None:
    """Require, where `detect_anomaly` looks for NaN, that there is none in what reverse mode gave.

    Raises: RuntimeError: there is.
    """
    if not modes.get().anomaly:
        return
    for i, x in enumerate(tree.leaves(derivatives)):
        array = x._array
        while isinstance(array, Tracer):
            array = array.underlying
        if array is not None and np.isnan(array).any():
            raise RuntimeError(
                f"Function '{name}' returned nan values in its {i}th output. Of which operation they "
                f"are says funcgrad.testing.find_nonfinite, or backward() in place of {name}."
            )


def require_pair(name: str, out: Any) -> None:
    """Raises: RuntimeError: `f` did not return a value and an auxiliary one."""
    if not (isinstance(out, tuple) and len(out) == 2):
        raise RuntimeError(
            f"{name}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )


def _require_tensors(name: str, out: Any) -> list[Any]:
    """The tensors in what `f` returned.

    Raises: RuntimeError: there are none, or something else is among them.
    """
    leaves = tree.leaves(out)
    for x in leaves:
        if not isinstance(x, TensorBase):
            raise RuntimeError(
                f"{name}: expected f(*primals) to return only tensors, got unsupported type {type(x)}"
            )
    if not leaves:
        raise RuntimeError(
            f"{name}: Expected f to be a function that has non-empty output (got output = {out})"
        )
    return leaves


def require_float_outputs(out: Any) -> None:
    """Raises: RuntimeError: `f` returned something else than tensors that have cotangents."""
    for x in _require_tensors("vjp(f, *primals)", out):
        dtype = dtypes.of(x._array.dtype)
        if dtype.category < 2:
            raise RuntimeError(
                f"vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor "
                f"with dtype {dtype}. Return it as aux, with has_aux=True."
            )


def require_jvp_outputs(out: Any, *, strict: bool = False) -> None:
    """Raises: RuntimeError: `f` returned something else than tensors; with `strict`, a constant."""
    for x in _require_tensors("jvp(f, primals, tangents)", out):
        array = x._array
        if strict and (array.__class__ is not JVPTracer or array.tangent is None):
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the "
                "inputs. This is not allowed with strict=True."
            )


def require_tangents(primals: Any, tangents: Any) -> None:
    """Require a tuple of tensors and one of tangents like them.

    Raises: RuntimeError: they are none.
    """
    for name, value in (("primals", primals), ("tangents", tangents)):
        if not isinstance(value, tuple):
            raise RuntimeError(
                f"jvp(f, primals, tangents): Expected {name} to be a tuple. E.g. it should be valid "
                f"to call f(*primals)."
            )
        for x in tree.leaves(value):
            if not isinstance(x, TensorBase):
                raise RuntimeError(
                    f"jvp(f, primals, tangents): Expected {name} to only contain Tensors, got {type(x)}"
                )
    require_floats("jvp", primals)
    if not tree.leaves(primals):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to contain at least one Tensor."
        )
    if tree.structure(primals) != tree.structure(tangents):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, tangents also must be. Got "
            f"primals with structure {tree.structure(primals)} and tangents with structure "
            f"{tree.structure(tangents)}"
        )
    for x, t in zip(tree.leaves(primals), tree.leaves(tangents), strict=True):
        if t._array.shape != x._array.shape:
            raise RuntimeError(
                "Trying to set a forward gradient that has a different size than that of the original "
                f"Tensor, this is not supported. Tensor is of size {list(x._array.shape)} while the "
                f"given forward gradient is of size {list(t._array.shape)}."
            )


def cotangents(treedef: Any, types: Sequence[Aval], given: Any) -> list[Any]:
    """The leaves of cotangents for outputs of these types.

    Raises: RuntimeError: they are not like the outputs.
    """
    cts, found_def = tree.flatten(given)
    if found_def != treedef:
        raise RuntimeError(
            "Expected pytree structure of cotangents to be the same as pytree structure of outputs "
            f"to the function. cotangents: {found_def}, primal output: {treedef}"
        )
    for i, (aval, ct) in enumerate(zip(types, cts, strict=True)):
        found, needed = Size(aval_of(ct._array).shape), Size(aval.shape)
        if found != needed:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {found} and output[{i}] has a "
                f"shape of {needed}."
            )
    return cts


def require_tangents_like(treedef: Any, types: Sequence[Aval], given: Any) -> None:
    """Raises: RuntimeError: the tangents are not like the primals of `linearize`."""
    tangents, found_def = tree.flatten(given)
    if found_def != treedef:
        raise RuntimeError(
            f"Expected the tangents {found_def} to have the same argspec as the primals {treedef}"
        )
    for i, (aval, t) in enumerate(zip(types, tangents, strict=True)):
        found = aval_of(t._array)
        for what, is_, needed in (
            ("shape", Size(found.shape), Size(aval.shape)),
            ("dtype", dtypes.of(found.dtype), dtypes.of(aval.dtype)),
        ):
            if is_ != needed:
                raise RuntimeError(
                    f"tangent:{i} with {what} {is_} in flattened pytree doesn't match the {what} "
                    f"{needed} of the corresponding primal."
                )


# ---------------------------------------------------------------- written arguments


def require_own_memory(i: int, pairs: Sequence[tuple[Any, Any, Any]]) -> None:
    """Require that what was written into argument `i` can be seen where it should be.

    `pairs` has of every argument what the caller gave, what the function got, and its array then.

    Raises: RuntimeError: it was given another shape, or it shares memory with another argument, which
    the transform has taken apart.
    """
    given, inside, array = pairs[i]
    what, site = inside._counter[1:3]
    place = f"{what} at {sites.describe(site)}"
    if not isinstance(given, TensorBase):
        return
    if inside._view is not None or aval_of(inside._array) != aval_of(array):
        raise RuntimeError(
            f"a transform cannot hand back what {place} does: it makes another tensor of an argument, "
            f"where only its elements may be written. Use the form that returns a new tensor."
        )
    for j, (other, inner, _) in enumerate(pairs):
        if j == i or not isinstance(other, TensorBase) or other._counter is not given._counter:
            continue
        both = given._array, other._array
        is_apart = all(x.__class__ is np.ndarray for x in both) and not np.may_share_memory(*both)
        if not is_apart and any(isinstance(x._array, Tracer) for x in (inside, inner)):
            raise RuntimeError(
                f"an argument of a transform was written by {place}, and another argument shares its "
                f"memory, where the write would not be seen. Give the function one of them."
            )


# ---------------------------------------------------------------- vmap


def require_randomness(randomness: Any) -> None:
    """Raises: RuntimeError: it is none of the three."""
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            "Only allowed values for randomness are 'error', 'different', or 'same'. Got "
            f"{randomness}"
        )


def require_chunk_size(name: str, size: Any) -> None:
    """Raises: ValueError: it is no positive number."""
    if size is not None and not size > 0:
        if name == "vmap":
            raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {size})")
        raise ValueError(f"{name}: `chunk_size` should be greater than 0.")


def batch_axes(name: str, in_dims: Any, args: tuple[Any, ...]) -> list[Any]:
    """The axis of the batch in each leaf of the arguments; they must be there, all of one length.

    Raises: ValueError: something has not.
    """
    call = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>)"
    if not isinstance(in_dims, int | tuple):
        raise ValueError(
            f"{call}: expected `in_dims` to be int or a (potentially nested) tuple matching the "
            f"structure of inputs, got: {type(in_dims)}."
        )
    leaves, treedef = tree.flatten(args)
    if not leaves:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying "
            "to vmap over a function with no inputs. The latter is unsupported."
        )
    try:
        dims = tree.flatten_axes("in_dims", treedef, in_dims)
    except ValueError as error:
        raise ValueError(
            f"{call}: in_dims is not compatible with the structure of `inputs`. {error}"
        ) from None
    sizes = []
    for x, dim in zip(leaves, dims, strict=True):
        if dim is not None:
            _require_dim(call, x, dim)
            sizes.append(x._array.shape[dim])
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if len(set(sizes)) > 1:
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return dims


def require_unbatched(name: str, array: Any) -> None:
    """Raises: RuntimeError: what was written into an argument with in_dim None has a batch."""
    if array.__class__ is BatchTracer and array.bdim is not None:
        raise RuntimeError(
            f"vmap: `{name}` writes into an argument with in_dim None, a tensor of "
            f"{Size(array.shape)}, what differs from example to example: there is no place for one "
            f"value for each. Give that argument an in_dim, or write into a clone() of it."
        )


def _require_dim(call: str, x: Any, dim: Any) -> None:
    """Raises: ValueError: `x` has no axis `dim`."""
    if not isinstance(dim, int):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but in_dim must be either an integer dimension or "
            f"None."
        )
    if not isinstance(x, TensorBase):
        raise ValueError(
            f"{call}: Got in_dim={dim} for an input but the input is of type {type(x)}. We cannot "
            f"vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    ndim = len(x._array.shape)
    if not -ndim <= dim < ndim:
        raise ValueError(
            f"{call}: Got in_dim={dim} for some input, but that input is a Tensor of dimensionality "
            f"{ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
        )


def require_outputs(name: str, out_dims: Any, out: Any) -> None:
    """Require of one example's results that the batch can be put where `out_dims` says.

    Raises: ValueError: they are no tensors, or `out_dims` is not like them. IndexError: no such axis.
    """
    leaves, treedef = tree.flatten(out)
    try:
        dims = tree.flatten_axes("out_dims", treedef, out_dims)
    except ValueError as error:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the "
            f"structure of `outputs`. {error}"
        ) from None
    for x, dim in zip(leaves, dims, strict=True):
        if dim is None:
            continue
        if not isinstance(dim, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                f"collection of ints representing where in the outputs the vmapped dimension should "
                f"appear."
            )
        if not hasattr(x, "shape"):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(x)}. Did you "
                f"mean to set out_dims= to None for output?"
            )
        ndim = len(x.shape)
        if not -ndim - 1 <= dim <= ndim:
            raise IndexError(
                f"Dimension out of range (expected to be in range of [{-ndim - 1}, {ndim}], but got "
                f"{dim})"
            )
