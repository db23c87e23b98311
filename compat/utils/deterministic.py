"""torch.utils.deterministic: a switch that is remembered and changes nothing.

What `empty` gives has whatever numbers the memory held, also where algorithms are deterministic.
"""

fill_uninitialized_memory = True
