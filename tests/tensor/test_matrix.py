"""Products of matrices and vectors: every function against differences and PyTorch; refusals."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from elementwise import agree, needs_torch, outcome
from harness import C, Call, F, call, check, torch
from hypothesis import given, settings
from hypothesis import strategies as st

import compat

MATMULS = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 2)),
    ((2, 3), (3, 4)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 2)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((2, 1, 2, 3), (5, 3, 4)),
    ((0, 3), (3, 2)),
    ((2, 0), (0, 3)),
    ((0,), (0,)),
    ((0, 2, 3), (0, 3, 4)),
]

CALLS = [
    *(call("matmul", F(*a), F(*b)) for a, b in MATMULS),
    *(call("matmul", C(*a), C(*b)) for a, b in MATMULS[:6]),
    call(".matmul", F(2, 3), F(3, 4)),
    call(".__matmul__", F(2, 3), F(3)),
    call("mm", F(2, 3), F(3, 4)),
    call("mm", C(2, 3), C(3, 1)),
    call("mm", F(0, 3), F(3, 0)),
    call(".mm", F(1, 3), F(3, 1)),
    call("bmm", F(4, 2, 3), F(4, 3, 2)),
    call("bmm", F(0, 2, 3), F(0, 3, 2)),
    call("bmm", C(2, 2, 3), C(2, 3, 1)),
    call("mv", F(2, 3), F(3)),
    call("mv", C(2, 3), C(3)),
    call("mv", F(2, 0), F(0)),
    call("dot", F(3), F(3)),
    call("dot", C(3), C(3)),
    call("dot", F(0), F(0)),
    call("vdot", F(3), F(3)),
    call("vdot", C(3), C(3)),
    call("inner", F(3), F(3)),
    call("inner", F(2, 3), F(3)),
    call("inner", F(2, 3), F(4, 5, 3)),
    call("inner", F(2, 3), F()),
    call("inner", F(), F()),
    call("inner", C(2, 3), C(3)),
    call("inner", F(2, 0), F(3, 0)),
    call("outer", F(2), F(3)),
    call("outer", C(2), C(3)),
    call("outer", F(0), F(3)),
    call("ger", F(2), F(3)),
    *(
        call("addmm", F(*s), F(2, 3), F(3, 4), **k)
        for s in ((2, 4), (4,), (2, 1), (1,), ())
        for k in ({}, {"beta": 0.5, "alpha": 2})
    ),
    call("addmm", F(2, 4), F(2, 3), F(3, 4), beta=0),
    call("addmm", F(4), F(2, 3), F(3, 4), alpha=0),
    call("addmm", C(4), C(2, 3), C(3, 4), alpha=2j, beta=1 - 1j),
    call("addmm", F(2, 4), F(2, 0), F(0, 4)),
    call("addmv", F(2), F(2, 3), F(3)),
    call("addmv", F(), F(2, 3), F(3), beta=2, alpha=-1),
    call("addmv", F(1), F(2, 3), F(3), beta=0),
    call("addmv", C(2), C(2, 3), C(3), alpha=1j),
    call("addr", F(2, 3), F(2), F(3)),
    call("addr", F(3), F(2), F(3), beta=2, alpha=-1),
    call("addr", F(), F(2), F(3), beta=0),
    call("addr", C(2, 1), C(2), C(3), beta=1j),
    call("baddbmm", F(4, 2, 2), F(4, 2, 3), F(4, 3, 2)),
    call("baddbmm", F(2, 1), F(4, 2, 3), F(4, 3, 2), beta=2, alpha=0.5),
    call("baddbmm", F(4, 1, 2), F(4, 2, 3), F(4, 3, 2), beta=0),
    call("baddbmm", C(2), C(4, 2, 3), C(4, 3, 2), alpha=2j),
    call("addbmm", F(2, 2), F(4, 2, 3), F(4, 3, 2)),
    call("addbmm", F(2), F(4, 2, 3), F(4, 3, 2), beta=2, alpha=0.5),
    call("addbmm", F(), F(4, 2, 3), F(4, 3, 2), beta=0),
    call("addbmm", F(2, 2), F(0, 2, 3), F(0, 3, 2)),
    *(
        call(f".{name}_", *args, **k)
        for name, args in {
            "addmm": (F(2, 4), F(2, 3), F(3, 4)),
            "addmv": (F(2), F(2, 3), F(3)),
            "addr": (F(2, 3), F(2), F(3)),
            "baddbmm": (F(4, 2, 2), F(4, 2, 3), F(4, 3, 2)),
            "addbmm": (F(2, 2), F(4, 2, 3), F(4, 3, 2)),
        }.items()
        for k in ({}, {"beta": 2, "alpha": -0.5}, {"beta": 0})
    ),
    call("chain_matmul", F(2, 3)),
    call("chain_matmul", F(2, 3), F(3, 4)),
    call("chain_matmul", F(2, 3), F(3, 4), F(4, 1), F(1, 2)),
    call("linalg.multi_dot", [F(3), F(3, 4), F(4, 2)]),
    call("linalg.multi_dot", [F(2, 3), F(3, 4), F(4)]),
    call("linalg.multi_dot", [F(3), F(3, 4), F(4)]),
    call("linalg.multi_dot", [F(3), F(3)]),
    call("einsum", "ij,jk->ik", F(2, 3), F(3, 4)),
    call("einsum", "ij, jk", F(2, 3), F(3, 4)),
    call("einsum", "i,j", F(2), F(3)),
    call("einsum", "ii->i", F(3, 3)),
    call("einsum", "ii", F(3, 3)),
    call("einsum", "ij->ji", F(2, 3)),
    call("einsum", "...ij->...ji", F(4, 2, 3)),
    call("einsum", "...ij,...jk->...ik", F(5, 2, 3), F(3, 4)),
    call("einsum", "b...,...->b", F(2, 3, 4), F(3, 4)),
    call("einsum", "bn,anm,bm->ba", F(2, 3), F(4, 3, 5), F(2, 5)),
    call("einsum", "ij,jk,kl", [F(2, 3), F(3, 4), F(4, 2)]),
    call("einsum", "ij,ij->i", C(2, 3), C(2, 3)),
    call("einsum", ",i->i", F(), F(3)),
    call("einsum", "ij->", F(2, 3)),
    call("einsum", "ij,kj->ik", F(2, 1), F(4, 3)),
    call("einsum", "Ab,bC->AC", F(2, 3), F(3, 4)),
    call("einsum", "Ab,bc", F(2, 3), F(3, 4)),
    call("einsum", F(2, 3), [0, 1], F(3, 4), [1, 2], [0, 2]),
    call("einsum", F(2, 3), [0, 1], F(3, 4), [1, 2]),
    call("einsum", F(5, 2, 3), [..., 0, 1], F(3, 4), [1, 2], [..., 0, 2]),
    call("einsum", F(2, 3), [30, 1], F(3, 4), [1, 2]),
    call("einsum", "ij,jk->ik", F(0, 3), F(3, 4)),
    call("tensordot", F(2, 3, 4), F(3, 4, 5)),
    call("tensordot", F(2, 3), F(3, 4), dims=1),
    call("tensordot", F(2, 3), F(4), dims=0),
    call("tensordot", F(2, 3, 4), F(4, 3, 5), dims=([1, 2], [1, 0])),
    call("tensordot", F(2, 3, 4), F(4, 3, 5), dims=[[-1], [0]]),
    call("tensordot", F(2, 3, 4), F(4, 5), dims=((2,), (0,))),
    call("tensordot", F(2, 1), F(3, 4), dims=1),
    call("tensordot", C(2, 3), C(3, 4), dims=1),
    call("kron", F(2), F(3)),
    call("kron", F(2, 3), F(3, 2)),
    call("kron", F(2, 3), F(4)),
    call("kron", F(2), F(3, 2, 2)),
    call("kron", F(), F(2)),
    call("kron", F(), F()),
    call("kron", C(2), F(2)),
    call("kron", F(0, 2), F(2)),
    call("cross", F(3), F(3), dim=0),
    call("cross", F(2, 3), F(2, 3), dim=-1),
    call("cross", F(3, 2), F(3, 2)),
    call("cross", F(2, 3), F(1, 3), dim=1),
    call("cross", C(2, 3), C(2, 3), dim=1),
    call("linalg.cross", F(3, 3), F(3, 3)),
    call("linalg.cross", F(3, 2), F(3, 1), dim=0),
    call("linalg.cross", F(1, 3), F(2, 3)),
    call("linalg.vecdot", F(2, 3), F(2, 3)),
    call("linalg.vecdot", F(2, 3), F(3), dim=-1),
    call("nn.functional.linear", F(2, 3), F(4, 3)),
    call("nn.functional.linear", F(2, 3), F(4, 3), F(4)),
    call("nn.functional.linear", F(3), F(4, 3), F(4)),
    call("nn.functional.linear", F(5, 2, 3), F(4, 3), F(4)),
    call("nn.functional.linear", F(2, 3), F(3)),
    call("nn.functional.linear", F(0, 3), F(4, 3), F(4)),
]


@pytest.mark.parametrize("c", CALLS, ids=repr)
def test_call(c: Call) -> None:
    check(c)


# ---------------------------------------------------------------- dtypes, refusals, nodes

HEAD = """
i = lambda *s: m.ones(s, dtype=m.int64)
b = lambda *s: m.ones(*s, dtype=m.bool)
f = lambda *s: m.ones(s)
d = lambda *s: m.ones(*s, dtype=m.float64)
g = lambda *s: m.ones(*s, requires_grad=True)
nan = lambda *s: m.full(s, float("nan"))
"""


def evaluated(module: Any, text: str) -> Any:
    scope = {"m": module}
    exec(HEAD, scope)
    return eval(text, scope)


REFUSALS = {
    "m.mm(f(2, 3), f(2, 3))": "mat1 and mat2 shapes cannot be multiplied (2x3 and 2x3)",
    "m.mm(f(2), f(2, 3))": "self must be a matrix",
    "m.mm(f(2, 3), f(3))": "mat2 must be a matrix",
    "m.mm(f(2, 3), i(3, 2))": "expected m1 and m2 to have the same dtype, but got: float != long int",
    "m.mm(f(2, 3), d(3, 2))": "float != double",
    "m.mm(b(2, 3), b(3, 2))": "\"addmm_impl_cpu_\" not implemented for 'Bool'",
    "m.mm(f(2, 3), 2)": "mm(): argument 'mat2' (position 2) must be Tensor, not int",
    "m.bmm(f(2, 3), f(2, 3))": "batch1 must be a 3D tensor",
    "m.bmm(f(2, 2, 3), f(3, 3, 2))": "dimensions of batch2 tensor to be: [2, 3] but got: [3, 3].",
    "m.bmm(f(2, 2, 3), f(2, 2, 2))": "dimensions of batch2 tensor to be: [2, 3] but got: [2, 2].",
    "m.bmm(f(2, 2, 3), i(2, 3, 2))": "expected scalar type Float but found Long",
    "m.mv(f(2, 3), f(2))": "size mismatch, got input (2), mat (2x3), vec (2)",
    "m.mv(f(2, 3), f(3, 1))": "vector + matrix @ vector expected, got 1, 2, 2",
    "m.mv(f(2, 3), i(3))": "must have the same dtype, but got Long, Float, and Long",
    "m.mv(b(2, 3), b(3))": "\"addmv_impl_cpu\" not implemented for 'Bool'",
    "m.dot(f(2, 3), f(2))": "1D tensors expected, but got 2D and 1D tensors",
    "m.dot(f(2), f(3))": "inconsistent tensor size, expected tensor [2] and src [3]",
    "m.dot(f(2), i(2))": "expected both vectors to have same dtype, but found Float and Long",
    "m.dot(b(2), b(2))": "\"dot\" not implemented for 'Bool'",
    "m.vdot(f(2, 3), f(2))": "1D tensors expected, but got 2D and 1D tensors",
    "m.matmul(f(), f(2))": "both arguments to matmul need to be at least 1D, but they are 0D and 1D",
    "m.matmul(f(2), f(3, 2))": "mat1 and mat2 shapes cannot be multiplied (1x2 and 3x2)",
    "m.matmul(f(2, 2, 3), f(2, 3))": "mat1 and mat2 shapes cannot be multiplied (4x3 and 2x3)",
    "m.matmul(f(2, 2, 3), f(2))": "size mismatch, got input (4), mat (4x3), vec (2)",
    "m.matmul(f(2), f(4, 3, 2))": "to be: [4, 2] but got: [4, 3].",
    "m.matmul(f(2, 3), f(4, 2, 3))": "to be: [4, 3] but got: [4, 2].",
    "m.matmul(f(2, 2, 3), f(3, 3, 2))": "The size of tensor a (2) must match the size of tensor b (3)",
    "m.matmul(f(5, 2, 2, 3), f(4, 2, 3, 2))": "must match the size of tensor b (4) at non-singleton",
    "m.matmul(f(2), 1)": "must be Tensor, not int",
    "f(2) @ 1": "unsupported operand type(s) for @: 'Tensor' and 'int'",
    "1 @ f(2)": "unsupported operand type(s) for @: 'int' and 'Tensor'",
    "m.inner(f(2, 3), f(2))": "the last dimension must match on both input tensors but got shapes",
    "m.inner(f(2, 3), i(3))": "both inputs should have same dtype",
    "m.outer(f(2, 3), f(2))": "outer: Expected 1-D argument self, but got 2-D",
    "m.outer(f(2), f(2, 3))": "outer: Expected 1-D argument vec2, but got 2-D",
    "m.addmm(f(3), f(2, 3), f(3, 2))": "The expanded size of the tensor (2) must match the existing",
    "m.addmm(f(1, 2, 2), f(2, 3), f(3, 2))": "the number of sizes provided (2) must be greater or",
    "m.addmm(i(2), f(2, 3), f(3, 2))": "self and mat2 must have the same dtype, but got Long and Float",
    "m.addmm(f(2), f(3), f(3, 2))": "mat1 must be a matrix, got 1-D tensor",
    "m.addmm(f(2, 2), f(2, 2), f(2, 2), beta=2j)": "cannot be converted to type float without overflow",
    "m.addmv(f(3), f(2, 3), f(3))": "size mismatch, got input (3), mat (2x3), vec (3)",
    "m.addmv(f(2), f(2, 3), f(2))": "size mismatch, got input (2), mat (2x3), vec (2)",
    "m.addmv(f(2, 2), f(2, 3), f(3))": "vector + matrix @ vector expected, got 2, 2, 1",
    "m.addmv(i(2), f(2, 3), f(3))": "must have the same dtype, but got Long, Float, and Float",
    "m.addr(f(2), f(2), f(3))": "The expanded size of the tensor (3) must match the existing size (2)",
    "m.addr(f(2, 3), f(2, 1), f(3))": "addr: Expected 1-D argument vec1, but got 2-D",
    "m.addr(i(2, 3), i(2), i(3), alpha=0.5)": "argument alpha must not be a floating point number",
    "m.baddbmm(f(3), f(2, 2, 3), f(2, 3, 2))": "The expanded size of the tensor (2) must match",
    "m.baddbmm(i(2), f(2, 2, 3), f(2, 3, 2))": "got: input long int, batch1: float, batch2: float",
    "m.addbmm(f(3), f(2, 2, 3), f(2, 3, 2))": "The expanded size of the tensor (2) must match",
    "m.addbmm(f(2, 2, 2), f(2, 2, 3), f(2, 3, 2))": "the number of sizes provided (2) must be",
    "m.chain_matmul()": "Expected one or more matrices",
    "m.chain_matmul(f(2), f(2, 3))": "Tensor dimension is 1, expected 2 instead.",
    "m.chain_matmul(f(2, 3), f(2, 3))": "with shapes [2, 3] and [2, 3] cannot be multiplied",
    "m.linalg.multi_dot([f(2, 3)])": "multi_dot(): expected at least 2 tensors but got 1",
    "m.linalg.multi_dot([f(2, 3), f(3, 2, 1)])": "the last tensor must be 1D or 2D but got 3D",
    "m.linalg.multi_dot([f(2, 3), f(3), f(2, 3)])": "multi_dot(): tensor 1 must be 2D but got 1D",
    "m.linalg.multi_dot([f(2, 3), i(3, 3)])": "tensor 0 is float and tensor 1 long int",
    "m.einsum('ij,jk->ik', f(2, 3), f(2, 3))": "subscript j has size 2 for operand 1 which does not",
    "m.einsum('ij,jk->ik', f(2, 3))": "fewer operands were provided than specified in the equation",
    "m.einsum('ij->ik', f(2, 3))": "output subscript k does not appear in the equation for any input",
    "m.einsum('ij->ii', f(2, 3))": "output subscript i appears more than once in the output",
    "m.einsum('ijk->ij', f(2, 3))": "the number of subscripts in the equation (3) does not match the",
    "m.einsum('...ijk', f(2, 3))": "(3) is more than the number of dimensions (2) for operand 0",
    "m.einsum('i.j->ij', f(2, 3))": "found '.' for operand 0 that is not part of any ellipsis",
    "m.einsum('...i...', f(2, 3))": "found '.' for operand 0 for which an ellipsis was already found",
    "m.einsum('i1->i', f(2, 3))": "invalid subscript given at index 1 in the equation string",
    "m.einsum('ii', f(2, 3))": "is repeated for operand 0 but the sizes don't match, 3 != 2",
    "m.einsum('...j,...j', f(4, 3), f(5, 3))": "which does not broadcast with previously seen ellipsis",
    "m.einsum('ij,j', f(2, 3), i(3))": "expected scalar type Float but found Long",
    "m.einsum('ij,j', b(2, 3), b(3))": "\"bmm\" not implemented for 'Bool'",
    "m.einsum('ij,j')": "must specify the equation string and at least one operand",
    "m.einsum(f(2, 3), [0, 60])": "is not within the valid range [0, 52)",
    "m.einsum('ij,j', f(2, 3), 3)": "expected Tensor as element 1 in argument 1, but got int",
    "m.tensordot(f(2, 3), f(2, 3), dims=1)": "contracted dimensions need to match, but first has size",
    "m.tensordot(f(2, 3), f(2, 3), dims=3)": "tensordot expects dims < ndim_a or ndim_b, but",
    "m.tensordot(f(2, 3), f(2, 3), dims=-1)": "tensordot expects dims >= 0, but got dims=-1",
    "m.tensordot(f(2), f(2), dims=([0], [0, 1]))": "both dimension lists should have same length",
    "m.tensordot(f(2), f(2), dims=([0, 0], [0, 0]))": "dim 0 appears multiple times in the list",
    "m.tensordot(f(2, 3), f(2, 3), dims=([5], [0]))": "Dimension out of range",
    "m.tensordot(f(2, 3), f(2, 3), dims=(1, 0))": "must be tuple of ints, not int",
    "m.tensordot(f(2, 3), f(2, 3), dims='a')": "tensordot expects dims to be int or tuple",
    "m.tensordot(f(2, 3), i(3), dims=1)": "both inputs should have same dtype",
    "m.kron(f(2), 2)": "kron(): argument 'other' (position 2) must be Tensor, not int",
    "m.cross(f(2), f(2))": "no dimension of size 3 in input",
    "m.cross(f(2, 3), f(3))": "linalg.cross: inputs must have the same number of dimensions.",
    "m.cross(f(2, 3), f(2, 3), dim=0)": "inputs dimension 0 must have length 3. Got 2 and 2",
    "m.cross(f(2, 3), f(2, 3), dim=5)": "Dimension out of range",
    "m.cross(f(2, 3), i(2, 3))": "expected scalar type Float but found Long",
    "m.cross(b(2, 3), b(2, 3))": "\"cross\" not implemented for 'Bool'",
    "m.linalg.cross(f(2, 3), f(4, 3))": "The size of tensor a (2) must match the size of tensor b (4)",
    "m.linalg.vecdot(f(2, 3), i(3))": "but found x of type Float and y of type Long instead",
    "m.linalg.vecdot(i(2, 3), i(3))": "Expected a floating point or complex tensor as input. Got Long",
    "m.linalg.vecdot(f(2, 3), f(2))": "The size of tensor a (3) must match the size of tensor b (2)",
    "m.linalg.vecdot(f(2, 3), f(2, 3), dim=4)": "Dimension out of range",
    "m.nn.functional.linear(f(2, 3), f(4, 2))": "shapes cannot be multiplied (2x3 and 2x4)",
    "m.nn.functional.linear(f(2, 3), f(4, 3), f(3))": "must match the existing size (3)",
    "m.mm(i(2, 3), f(3, 2))": "expected m1 and m2 to have the same dtype, but got: long int != float",
    "m.matmul(f(2, 2), d(4, 2, 2))": "expected scalar type Float but found Double",
    "m.matmul(d(2), f(4, 2, 2))": "expected scalar type Double but found Float",
    "m.addmm(f(2), i(2, 3), f(3, 2))": "mat1 and mat2 must have the same dtype, but got Long and Float",
    "m.addmm(f(2), f(2, 3), d(3, 2))": "self and mat2 must have the same dtype, but got Float and D",
    "m.baddbmm(f(2), f(2, 2, 3), d(2, 3, 2))": "expected scalar type Float but found Double",
    "m.nn.functional.linear(i(2, 3), f(4, 3))": "m1 and m2 to have the same dtype, but got: long",
    "m.nn.functional.linear(i(2, 3), f(4, 3), f(4))": "mat1 and mat2 must have the same dtype, but got "
    "Long and Float",
    "m.nn.functional.linear(f(5, 2, 3), d(4, 3), d(4))": "mat1 and mat2 must have the same dtype, but "
    "got Float and Double",
    "m.nn.functional.linear(f(2, 3), f(4, 3), d(4))": "self and mat2 must have the same dtype, but got "
    "Double and Float",
    "m.nn.functional.linear(f(2, 3), f(3), f(1))": "mat2 must be a matrix, got 1-D tensor",
    "m.nn.functional.linear(f(), f(4, 3))": "both arguments to linear need to be at least 1D, but they "
    "are 0D and 2D",
    "m.nn.functional.linear([1], f(4, 3))": "linear(): argument 'input' (position 1) must be Tensor, "
    "not list",
    "m.nn.functional.linear(f(2, 3), 1)": "linear(): argument 'weight' (position 2) must be Tensor",
    "m.nn.functional.linear(f(2, 3), f(4, 3), [1])": "argument 'bias' (position 3) must be Tensor, not",
    "i(2, 2).addmm_(f(2, 3), f(3, 2))": "self and mat2 must have the same dtype",
    "m.mm(f(2, 3), f(3, 2), out=d(2, 2))": "Expected out tensor to have dtype float, but got double",
    "m.mm(g(2, 3), f(3, 2), out=f(2, 2))": "mm(): functions with out=... arguments don't support",
}


@pytest.mark.parametrize("text", REFUSALS)
def test_refusal(text: str) -> None:
    """The error has PyTorch's words, and its type."""
    ours = outcome(compat, lambda m: evaluated(m, text))
    assert isinstance(ours, Exception), ours
    assert REFUSALS[text] in str(ours)
    if torch is not None:
        theirs = outcome(None, lambda m: evaluated(m, text))
        assert type(ours) is type(theirs), (ours, theirs)
        assert REFUSALS[text] in str(theirs)


VALUES = """
m.mm(i(2, 3), i(3, 2))
m.matmul(i(2, 3), i(3))
m.dot(i(2), i(2))
m.vdot(i(2), i(2))
m.vdot(m.tensor([1j, 2]), m.tensor([1j, 3j]))
m.inner(f(2, 3), i())
m.inner(i(2, 3), i(3))
m.outer(b(2), i(3))
m.outer(f(2), i(3))
m.addmm(i(2), i(2, 3), i(3, 2), alpha=0.5)
m.addmm(i(2), i(2, 3), i(3, 2), beta=1.5)
m.addmm(nan(2), f(2, 3), f(3, 2), beta=0)
m.addmv(i(2), i(2, 3), i(3), alpha=2.5)
m.addmv(nan(2), f(2, 3), f(3), beta=0)
m.addr(i(2, 3), f(2), f(3))
m.addr(f(2, 3), i(2), f(3))
m.addr(b(2, 3), b(2), b(3), beta=False)
m.addr(b(2, 3), b(2), b(3), beta=2)
m.addr(b(2, 3), i(2), i(3))
m.addr(nan(3), f(2), f(3), beta=0)
m.baddbmm(i(2, 2, 2), i(2, 2, 3), i(2, 3, 2), alpha=0.5)
m.baddbmm(nan(2), f(2, 2, 3), f(2, 3, 2), beta=0)
m.addbmm(i(2, 2), i(2, 2, 3), i(2, 3, 2))
m.addbmm(m.ones(2, dtype=m.int32), *[m.ones(2, 2, 2, dtype=m.int32)] * 2)
m.einsum('ij->i', b(2, 3))
m.einsum('ij->i', i(2, 3).int())
m.einsum('ij->ji', i(2, 3).int())
m.einsum('ij,j', i(2, 3).int(), i(3).int())
m.einsum('...ij->ij', f(4, 2, 3))
m.einsum('', f())
m.tensordot(i(2, 3), i(3), dims=1)
m.tensordot(f(2, 3), f(3, 2), dims=m.tensor(1))
m.tensordot(f(2, 3), f(3, 2), dims=m.tensor([[1], [0]]))
m.kron(i(2), b(2))
m.kron(f(2), i(2))
m.kron(b(2), b(2))
m.kron(f(2), f(2), out=d(4))
m.cross(i(2, 3), 2 * i(2, 3), dim=1)
m.linalg.multi_dot([i(2, 3), i(3, 3)])
m.linalg.vecdot(m.tensor([1j, 2]), m.tensor([1j, 3j]))
m.mm(f(2, 3), f(3, 2), out=f(2, 2))
m.matmul(f(2, 3), f(3), out=f(1))
m.outer(f(2), f(3), out=d(2, 3))
m.einsum('ij,jk->ik', m.ones(2, 3, dtype=m.float16), m.ones(3, 2, dtype=m.float16))
m.ones(2, 3, dtype=m.float16) @ m.ones(3, 2, dtype=m.float16)
m.nn.functional.linear(f(2, 3), f(4, 3), f(4), out=f(2, 4))
m.nn.functional.linear(f(2, 2, 3), f(4, 3), out=f(0))
m.nn.functional.linear(f(2, 3), f(4, 3), f(4), out=d(2, 4))
m.nn.functional.linear(g(2, 3), f(4, 3), out=f(2, 4))
m.addbmm(f(2), f(3, 2, 2), f(3, 2, 2), out=f(7))
"""


@needs_torch
@pytest.mark.parametrize("text", VALUES.strip().splitlines())
def test_value(text: str) -> None:
    agree(lambda m: evaluated(m, text))


NODES = {
    "m.mm(g(2, 2), f(2, 2))": "MmBackward0",
    "m.bmm(g(2, 2, 2), f(2, 2, 2))": "BmmBackward0",
    "m.mv(g(2, 2), f(2))": "MvBackward0",
    "m.dot(g(2), f(2))": "DotBackward0",
    "m.vdot(g(2), f(2))": "VdotBackward0",
    "m.inner(g(2, 2), f(2))": "ViewBackward0",
    "m.outer(g(2), f(2))": "MulBackward0",
    "m.addmm(g(2), f(2, 2), f(2, 2))": "AddmmBackward0",
    "m.addmm(g(2), f(2, 2), f(2, 2), beta=2, alpha=2)": "AddmmBackward0",
    "m.addmm(g(2), f(2, 2), f(2, 2), beta=0)": "AddmmBackward0",
    "m.addmv(g(2), f(2, 2), f(2))": "AddmvBackward0",
    "m.addr(g(2), f(2), f(2))": "AddrBackward0",
    "m.baddbmm(g(2), f(2, 2, 2), f(2, 2, 2))": "BaddbmmBackward0",
    "m.addbmm(g(2), f(2, 2, 2), f(2, 2, 2))": "AddbmmBackward0",
    "g(2, 2) @ f(2)": "MvBackward0",
    "g(2) @ f(2, 2)": "SqueezeBackward4",
    "g(2, 2, 2) @ f(2, 2)": "UnsafeViewBackward0",
    "m.cross(g(2, 3), f(2, 3), dim=1)": "LinalgCrossBackward0",
    "m.nn.functional.linear(g(2, 3), f(2, 3), f(2))": "AddmmBackward0",
}


@pytest.mark.parametrize("text", NODES)
def test_node(text: str) -> None:
    assert evaluated(compat, text).grad_fn.name() == NODES[text]
    if torch is not None:
        assert evaluated(torch, text).grad_fn.name() == NODES[text]


def test_ignored_input_has_zero_gradient() -> None:
    x = compat.tensor([float("nan"), 1.0], requires_grad=True)
    compat.addmm(x, compat.ones(2, 3), compat.ones(3, 2), beta=0).sum().backward()
    assert x.grad.tolist() == [0.0, 0.0]


@settings(deadline=None, max_examples=80)
@given(st.data())
def test_einsum_is_numpys(data: st.DataObject) -> None:
    """Random equations of one to three operands give NumPy's numbers."""
    sizes = {k: data.draw(st.integers(0, 3)) for k in "abc"}
    terms = data.draw(st.lists(st.text("abc", max_size=3), min_size=1, max_size=3))
    used = sorted(set("".join(terms)))
    output = "".join(data.draw(st.permutations(used)))[: data.draw(st.integers(0, 3))]
    equation = ",".join(terms) + "->" + output
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=[sizes[k] for k in term]) for term in terms]
    found = compat.einsum(equation, *map(compat.from_numpy, map(np.asarray, arrays)))
    np.testing.assert_allclose(found.numpy(), np.einsum(equation, *arrays), atol=1e-12)


@settings(deadline=None, max_examples=40)
@given(
    st.lists(st.integers(0, 3), max_size=2),
    st.lists(st.booleans(), min_size=2, max_size=2),
    st.booleans(),
    st.booleans(),
)
def test_matmul_broadcasts(lead: list[int], ones: list[bool], row: bool, swap: bool) -> None:
    """The product and its gradients are those of expanded operands."""
    small = [1 if one else n for n, one in zip(lead, ones, strict=False)]
    shapes = [(*lead, 2, 3), (*small, 3, 4)] if not row else [(*lead, 2, 3), (3,)]
    if swap and not row:
        shapes = [(*small, 2, 3), (*lead, 3, 4)]
    rng = np.random.default_rng(0)
    arrays = [rng.normal(size=s) for s in shapes]
    xs = [compat.from_numpy(a).requires_grad_() for a in arrays]
    out = xs[0] @ xs[1]
    np.testing.assert_allclose(out.detach().numpy(), arrays[0] @ arrays[1], atol=1e-12)
    weights = rng.normal(size=out.shape)
    (out * compat.from_numpy(weights)).sum().backward()
    for x, a in zip(xs, arrays, strict=True):
        assert x.grad.shape == a.shape
        step = rng.normal(size=a.shape)
        moved = [a + step if y is x else b for y, b in zip(xs, arrays, strict=True)]
        change = ((moved[0] @ moved[1] - arrays[0] @ arrays[1]) * weights).sum()  # linear
        np.testing.assert_allclose((x.grad.numpy() * step).sum(), change, atol=1e-10)


def test_only_addbmm_resizes_without_a_warning() -> None:
    x, y = compat.ones(3, 2, 2), compat.ones(3, 2, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert compat.addbmm(x[0], x, y, out=compat.ones(7)).shape == (2, 2)
    with pytest.warns(UserWarning, match="was resized"):
        compat.baddbmm(x, x, y, out=compat.ones(7))


def test_products_are_no_views() -> None:
    x, y = compat.ones(2, 3), compat.ones(2, 3, requires_grad=True)
    for out in (
        compat.kron(x, y),
        compat.kron(x[0], x[0]),
        compat.cross(x, y, dim=1),
        compat.linalg.cross(x, x),
    ):
        assert not out._is_view() and out._base is None
        out.detach().zero_()
        assert x.sum() == 6 and y.sum() == 6
