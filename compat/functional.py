"""`torch.functional`: functions of several tensors, which are at the top too."""

from __future__ import annotations

from .linalg.names import lu as lu
from .ops.atleast import atleast_1d as atleast_1d
from .ops.atleast import atleast_2d as atleast_2d
from .ops.atleast import atleast_3d as atleast_3d
from .ops.distance import cdist as cdist
from .ops.grid import block_diag as block_diag
from .ops.grid import broadcast_shapes as broadcast_shapes
from .ops.grid import cartesian_prod as cartesian_prod
from .ops.grid import meshgrid as meshgrid
from .ops.join import split as split
from .ops.norm import norm as norm
from .ops.places import unravel_index as unravel_index
from .ops.products import chain_matmul as chain_matmul
from .ops.products import einsum as einsum
from .ops.products import tensordot as tensordot
from .ops.shape import broadcast_tensors as broadcast_tensors
from .ops.sort import unique as unique
from .ops.sort import unique_consecutive as unique_consecutive
from .ops.spectra import istft as istft
from .ops.spectra import stft as stft
