"""PyTorch's functions, by family: names, signatures, promotion and errors; nothing is derived here.

Layer 7. A function checks its arguments as PyTorch does and calls `tape.record` with primitives of
funcgrad. Nothing here knows a derivative.
"""
