"""References to arrays in JAX's private modules: only their type is asked for."""
