"""The transforms: interpreters of primitives, one file each.

Layer 4. `trace` records programs, `transpose` runs linear ones backwards, `jvp`, `vjp` and `vmap`
interpret primitives; `derivatives` builds grad, Jacobians and Hessians of them.
"""
