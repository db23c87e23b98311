"""The primitives, one file per family; a linear primitive lives beside its adjoint.

Layer 3. Each decorated function is the primitive and the function that rules call. Parameters are
in normal form here (non-negative axes, tuples); `funcgrad.numpy` offers NumPy's signatures.
"""
