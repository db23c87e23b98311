"""The names of ``jax.lax``: control flow that programs can hold, and functions of arrays.

`cond`, `switch`, `while_loop`, `fori_loop`, `scan`, `map` and `associative_scan` are plain Python
outside of `jit` and `make_jaxpr`; there they are one step of the program, with every derivative, and
under `vmap` every example takes its own branch and its own number of steps.

>>> import funcgrad, numpy as np
>>> from funcgrad.lax import scan
>>> def decay(rate, dt):
...     return scan(lambda y, _: (y - dt * rate * y, y), 1.0, length=3)[1]
>>> decay(0.5, 1.0).tolist()
[1.0, 0.5, 0.25]
>>> funcgrad.jit(funcgrad.jacfwd(decay))(0.5, 1.0).tolist()
[0.0, -1.0, -1.0]

The functions of arrays are those of `funcgrad.numpy`, with the arguments of ``jax.lax``: starts of
slices that are computed, any axes of products and convolutions, padding between elements. Operands
broadcast and promote as NumPy's do.

>>> from funcgrad import lax
>>> x = np.arange(5.0)
>>> funcgrad.jit(lambda x, i: lax.dynamic_slice(x, (i,), (2,)))(x, 1).tolist()
[1.0, 2.0]
"""

from numpy import broadcast_shapes

from ..numpy.complex import imag, real
from ..numpy.elementwise import sign
from ..numpy.joining import stack, unstack
from ..ops.arithmetic import (
    absolute as abs,
)
from ..ops.arithmetic import (
    add,
    reciprocal,
    square,
)
from ..ops.arithmetic import (
    fmod as rem,
)
from ..ops.arithmetic import (
    multiply as mul,
)
from ..ops.arithmetic import (
    negative as neg,
)
from ..ops.arithmetic import (
    power as pow,
)
from ..ops.arithmetic import (
    subtract as sub,
)
from ..ops.beta import betainc
from ..ops.bits import bit_count as population_count
from ..ops.complex import complex_from as complex
from ..ops.exponential import cbrt, exp, exp2, expm1, log, log1p, sqrt
from ..ops.gamma import digamma, zeta
from ..ops.gamma import (
    gammainc as igamma,
)
from ..ops.gamma import (
    gammaincc as igammac,
)
from ..ops.gamma import (
    gammaln as lgamma,
)
from ..ops.logic import (
    bitwise_and,
    bitwise_or,
    bitwise_xor,
)
from ..ops.logic import (
    equal as eq,
)
from ..ops.logic import (
    greater as gt,
)
from ..ops.logic import (
    greater_equal as ge,
)
from ..ops.logic import (
    invert as bitwise_not,
)
from ..ops.logic import (
    isfinite as is_finite,
)
from ..ops.logic import (
    less as lt,
)
from ..ops.logic import (
    less_equal as le,
)
from ..ops.logic import (
    not_equal as ne,
)
from ..ops.rounding import ceil, floor, nextafter
from ..ops.select import maximum as max
from ..ops.select import minimum as min
from ..ops.select import stop_gradient as stop_gradient_p
from ..ops.special import erf, erfc
from ..ops.special import erfinv as erf_inv
from ..ops.trigonometric import (
    arccos as acos,
)
from ..ops.trigonometric import (
    arccosh as acosh,
)
from ..ops.trigonometric import (
    arcsin as asin,
)
from ..ops.trigonometric import (
    arcsinh as asinh,
)
from ..ops.trigonometric import (
    arctan as atan,
)
from ..ops.trigonometric import (
    arctan2 as atan2,
)
from ..ops.trigonometric import (
    arctanh as atanh,
)
from ..ops.trigonometric import (
    cos,
    cosh,
    sin,
    sinh,
    tan,
    tanh,
)
from ..scipy.special import i0e as bessel_i0e
from ..scipy.special import i1e as bessel_i1e
from ..transforms.control import cond, switch
from ..transforms.derivatives import stop_gradient
from ..transforms.loops import associative_scan, scan
from ..transforms.until import fori_loop, while_loop
from . import linalg
from .calling import composite, platform_dependent
from .collectives import (
    all_gather,
    all_to_all,
    axis_index,
    axis_size,
    pmax,
    pmean,
    pmin,
    ppermute,
    psum,
    psum_scatter,
    pswapaxes,
)
from .convolutions import (
    ConvDimensionNumbers,
    ConvGeneralDilatedDimensionNumbers,
    conv,
    conv_dimension_numbers,
    conv_general_dilated,
    conv_general_dilated_local,
    conv_general_dilated_patches,
    conv_transpose,
    conv_with_general_padding,
    padtype_to_pads,
)
from .elementwise import (
    RoundingMethod,
    bitcast_convert_type,
    clamp,
    clz,
    div,
    integer_pow,
    polygamma,
    round,
    rsqrt,
    select,
    select_n,
    shift_left,
    shift_right_arithmetic,
    shift_right_logical,
)
from .fourier import FftType, fft
from .gather import (
    gather,
    index_take,
    scatter,
    scatter_add,
    scatter_apply,
    scatter_max,
    scatter_min,
    scatter_mul,
    scatter_sub,
)
from .implicit import custom_linear_solve, custom_root
from .mapping import map
from .numbers import (
    broadcast_to_rank,
    conj,
    convert_element_type,
    igamma_grad_a,
    logistic,
    mulhi,
    random_gamma_grad,
    reduce_precision,
)
from .ordering import approx_max_k, approx_min_k, argmax, argmin, sort, sort_key_val, top_k
from .products import (
    DotDimensionNumbers,
    Precision,
    PrecisionLike,
    batch_matmul,
    dot,
    dot_general,
    ragged_dot,
)
from .reductions import (
    cumlogsumexp,
    cummax,
    cummin,
    cumprod,
    cumsum,
    reduce,
    reduce_and,
    reduce_max,
    reduce_min,
    reduce_or,
    reduce_prod,
    reduce_sum,
    reduce_window,
    reduce_xor,
)
from .shapes import (
    broadcast,
    broadcast_in_dim,
    broadcasted_iota,
    collapse,
    concatenate,
    expand_dims,
    full,
    full_like,
    iota,
    optimization_barrier,
    pad,
    reshape,
    rev,
    split,
    squeeze,
    tile,
    transpose,
    with_sharding_constraint,
)
from .slicing import (
    dynamic_index_in_dim,
    dynamic_slice,
    dynamic_slice_in_dim,
    dynamic_update_index_in_dim,
    dynamic_update_slice,
    dynamic_update_slice_in_dim,
    index_in_dim,
    slice,
    slice_in_dim,
)
from .windows import GatherDimensionNumbers, GatherScatterMode, ScatterDimensionNumbers

__all__ = [
    "ConvDimensionNumbers",
    "ConvGeneralDilatedDimensionNumbers",
    "DotDimensionNumbers",
    "FftType",
    "GatherDimensionNumbers",
    "GatherScatterMode",
    "Precision",
    "PrecisionLike",
    "RoundingMethod",
    "ScatterDimensionNumbers",
    "abs",
    "acos",
    "acosh",
    "add",
    "all_gather",
    "all_to_all",
    "approx_max_k",
    "approx_min_k",
    "argmax",
    "argmin",
    "asin",
    "asinh",
    "associative_scan",
    "atan",
    "atan2",
    "atanh",
    "axis_index",
    "axis_size",
    "batch_matmul",
    "bessel_i0e",
    "bessel_i1e",
    "betainc",
    "bitcast_convert_type",
    "bitwise_and",
    "bitwise_not",
    "bitwise_or",
    "bitwise_xor",
    "broadcast",
    "broadcast_in_dim",
    "broadcast_shapes",
    "broadcast_to_rank",
    "broadcasted_iota",
    "cbrt",
    "ceil",
    "clamp",
    "clz",
    "collapse",
    "complex",
    "composite",
    "concatenate",
    "cond",
    "conj",
    "conv",
    "conv_dimension_numbers",
    "conv_general_dilated",
    "conv_general_dilated_local",
    "conv_general_dilated_patches",
    "conv_transpose",
    "conv_with_general_padding",
    "convert_element_type",
    "cos",
    "cosh",
    "cumlogsumexp",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "custom_linear_solve",
    "custom_root",
    "digamma",
    "div",
    "dot",
    "dot_general",
    "dynamic_index_in_dim",
    "dynamic_slice",
    "dynamic_slice_in_dim",
    "dynamic_update_index_in_dim",
    "dynamic_update_slice",
    "dynamic_update_slice_in_dim",
    "eq",
    "erf",
    "erf_inv",
    "erfc",
    "exp",
    "exp2",
    "expand_dims",
    "expm1",
    "fft",
    "floor",
    "fori_loop",
    "full",
    "full_like",
    "gather",
    "ge",
    "gt",
    "igamma",
    "igamma_grad_a",
    "igammac",
    "imag",
    "index_in_dim",
    "index_take",
    "integer_pow",
    "iota",
    "is_finite",
    "le",
    "lgamma",
    "linalg",
    "log",
    "log1p",
    "logistic",
    "lt",
    "map",
    "max",
    "min",
    "mul",
    "mulhi",
    "ne",
    "neg",
    "nextafter",
    "optimization_barrier",
    "pad",
    "padtype_to_pads",
    "platform_dependent",
    "pmax",
    "pmean",
    "pmin",
    "polygamma",
    "population_count",
    "pow",
    "ppermute",
    "psum",
    "psum_scatter",
    "pswapaxes",
    "ragged_dot",
    "random_gamma_grad",
    "real",
    "reciprocal",
    "reduce",
    "reduce_and",
    "reduce_max",
    "reduce_min",
    "reduce_or",
    "reduce_precision",
    "reduce_prod",
    "reduce_sum",
    "reduce_window",
    "reduce_xor",
    "rem",
    "reshape",
    "rev",
    "round",
    "rsqrt",
    "scan",
    "scatter",
    "scatter_add",
    "scatter_apply",
    "scatter_max",
    "scatter_min",
    "scatter_mul",
    "scatter_sub",
    "select",
    "select_n",
    "shift_left",
    "shift_right_arithmetic",
    "shift_right_logical",
    "sign",
    "sin",
    "sinh",
    "slice",
    "slice_in_dim",
    "sort",
    "sort_key_val",
    "split",
    "sqrt",
    "square",
    "squeeze",
    "stack",
    "stop_gradient",
    "stop_gradient_p",
    "sub",
    "switch",
    "tan",
    "tanh",
    "tile",
    "top_k",
    "transpose",
    "unstack",
    "while_loop",
    "with_sharding_constraint",
    "zeta",
]
