"""A stub: the Tensor layer planned for this package is not built yet, so nothing is defined."""
