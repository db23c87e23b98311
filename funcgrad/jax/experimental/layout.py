"""How elements lie in memory: here NumPy's strides say so."""

from .._absent import absent

Format = absent("Format", "arrays lie in memory as NumPy has them")
