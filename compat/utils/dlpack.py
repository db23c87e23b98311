"""DLPack under the names of ``torch.utils.dlpack``."""

from ..ops.interchange import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
