"""Of JAX's private modules of array functions, what s2fft imports."""
