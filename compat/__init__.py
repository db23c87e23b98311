"""compat: tensors that work as PyTorch's do, over funcgrad. Use it as ``import compat as torch``.

>>> import compat as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

import sys as _sys
import typing as _typing
import warnings as _warnings
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

from funcgrad.stand_in import install as _install_stand_in

from . import _C as _C
from . import (
    accelerator,
    amp,
    autograd,
    backends,
    compiler,
    cuda,
    distributed,
    fft,
    func,
    functional,
    fx,
    hub,
    jit,
    linalg,
    nn,
    optim,
    random,
    sparse,
    special,
    testing,
    types,
    utils,
    version,
)
from ._missing import explain as _explain_missing
from ._tensor import Tensor as Tensor
from .amp import GradScaler as GradScaler
from .amp import autocast as autocast
from .amp.autocast_mode import clear_autocast_cache as clear_autocast_cache
from .amp.autocast_mode import get_autocast_dtype as get_autocast_dtype
from .amp.autocast_mode import is_autocast_cache_enabled as is_autocast_cache_enabled
from .amp.autocast_mode import is_autocast_enabled as is_autocast_enabled
from .autograd import deferring as _deferring
from .autograd import enable_grad as enable_grad
from .autograd import inference_mode as inference_mode
from .autograd import is_anomaly_check_nan_enabled as is_anomaly_check_nan_enabled
from .autograd import is_anomaly_enabled as is_anomaly_enabled
from .autograd import is_grad_enabled as is_grad_enabled
from .autograd import is_inference_mode_enabled as is_inference_mode_enabled
from .autograd import no_grad as no_grad
from .autograd import set_grad_enabled as set_grad_enabled
from .compiling import compile as compile
from .control import *
from .cuda import Event as Event
from .cuda import Stream as Stream
from .cuda import amp as _cuda_amp
from .distributed import nn as _distributed_nn
from .dtypes import *
from .func import vmap as vmap
from .futures import Future as Future
from .jit import ScriptModule as ScriptModule
from .jit import annotations as _annotations
from .linalg.lowrank import *
from .linalg.names import *
from .linalg.reflections import *
from .nn import modules as _modules
from .nn import parallel as _parallel
from .nn.aliases import *
from .nn.native import *
from .ops import _numpy_names
from .ops import legacy as _legacy
from .ops.activation import *
from .ops.atleast import *
from .ops.bessel import *
from .ops.blend import *
from .ops.compare import *
from .ops.complex import *
from .ops.convert import *
from .ops.copies import *
from .ops.create import *
from .ops.cumulative import *
from .ops.distance import *
from .ops.embedding import *
from .ops.exponential import *
from .ops.foreach import *
from .ops.gamma import *
from .ops.gamma_draws import *
from .ops.generator import *
from .ops.grid import *
from .ops.histograms import *
from .ops.index import *
from .ops.integers import *
from .ops.interchange import *
from .ops.join import *
from .ops.legacy import *
from .ops.like import *
from .ops.masks import *
from .ops.matrix import *
from .ops.memory import *
from .ops.norm import *
from .ops.padding import *
from .ops.part import *
from .ops.places import *
from .ops.pointwise import *
from .ops.power import *
from .ops.products import *
from .ops.random import *
from .ops.ranges import *
from .ops.rearrange import *
from .ops.reduce import *
from .ops.rounding import *
from .ops.scatter import *
from .ops.segments import *
from .ops.shape import *
from .ops.slices import *
from .ops.softmax import *
from .ops.sort import *
from .ops.special import *
from .ops.spectra import *
from .ops.statistics import *
from .ops.trigonometric import *
from .ops.windows import *
from .parameter import Parameter as Parameter
from .printing import set_printoptions as set_printoptions
from .serialization import load as load
from .serialization import save as save
from .serialization.records import PyTorchFileReader as PyTorchFileReader
from .settings import *
from .settings import _assert, _assert_async, _check
from .size import *
from .size import _mkldnn as _mkldnn
from .sparse.make import *
from .storage import *
from .utils import _pytree as _pytree_module
from .utils import checkpoint as _checkpoint
from .utils import data as _data
from .utils import dlpack as _dlpack

# Scripts branch on it: the version of PyTorch whose behaviour this package has.
__version__ = version.__version__
newaxis = None
torch = _sys.modules[__name__]  # PyTorch has its own name among its own, too

# PyTorch computes infinities and NaNs without a word. The general path says so to NumPy; the fast one
# would pay half its time for that.
for _name in (r"compat\.autograd", r"funcgrad\.compile\.quick", r"funcgrad\.(faster|modulus)$"):
    _warnings.filterwarnings("ignore", category=RuntimeWarning, module=_name)

_others = {"norm", "size", "split", "unique", "unique_consecutive"}
_numpy_names.accept(_sys.modules[__name__], "compat", _others)
_numpy_names.accept(Tensor, "compat:Tensor", _others)
vars(cuda).update(_legacy.ON_GPU)  # the package lies below what makes tensors
for _module in (linalg, fft):
    _numpy_names.accept(_module, _module.__name__)
for _module in (special, nn.functional):
    _numpy_names.also(_module)

_deferring.offer(
    {
        "compat": _sys.modules[__name__],
        "compat:Tensor": Tensor,
        **{m.__name__: m for m in (linalg, fft, special, nn.functional)},
    }
)

_LATER = (
    "__config__",
    "_dynamo",
    "_inductor",
    "cpu",
    "distributions",
    "library",
    "masked",
    "mps",
    "mtia",
    "multiprocessing",
    "onnx",
    "overrides",
    "profiler",
    "quasirandom",
    "return_types",
    "signal",
    "xpu",
)
if _typing.TYPE_CHECKING:
    from . import cpu as cpu
    from . import distributions as distributions
    from . import library as library
    from . import masked as masked
    from . import mps as mps
    from . import mtia as mtia
    from . import multiprocessing as multiprocessing
    from . import onnx as onnx
    from . import overrides as overrides
    from . import profiler as profiler
    from . import quasirandom as quasirandom
    from . import return_types as return_types
    from . import signal as signal
    from . import xpu as xpu

_explain_missing("torch", globals(), _LATER)
_install_stand_in(__name__)
