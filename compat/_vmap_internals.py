"""`torch._vmap_internals`: where packages from before `torch.func` import `vmap` from."""

from .func import vmap

_vmap = vmap
