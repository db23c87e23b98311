"""The type of a reference, which `isinstance` is asked about: nothing has it."""

from ..._absent import absent

AbstractRef = absent("AbstractRef", "arrays can be written into")
