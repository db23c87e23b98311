"""`torch._dynamo.eval_frame`: where packages look for the class of compiled modules."""

from __future__ import annotations

from ..compiling import OptimizedModule as OptimizedModule
