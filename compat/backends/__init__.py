"""`torch.backends`: which libraries of PyTorch's are here (none), and their switches.

The switches can be set, as scripts do. They choose between ways to compute the same, so they change
nothing here.
"""

from . import cuda, cudnn, mkl, mkldnn, mps, openmp

__all__ = ["cuda", "cudnn", "mkl", "mkldnn", "mps", "openmp"]
