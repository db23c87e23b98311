"""compat: tensors that work as PyTorch's do, over funcgrad. Use it as ``import compat as torch``.

>>> import compat as torch
>>> x = torch.tensor([1.0, 2.0], requires_grad=True)
>>> (x * x).sum().backward()
>>> x.grad
tensor([2., 4.])
"""

from . import autograd, func
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    is_inference_mode_enabled,
    no_grad,
    set_grad_enabled,
)
from .dtypes import *
from .func import vmap
from .ops.create import *
from .ops.pointwise import *
from .ops.reduce import *
from .size import Size, device
from ._tensor import Tensor
