"""The classes of MyGrad's functions of elements."""

from ._function import MyGradBinaryUfunc, MyGradUnaryUfunc, ufunc

__all__ = ["MyGradBinaryUfunc", "MyGradUnaryUfunc", "ufunc"]
