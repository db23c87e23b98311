"""Helpers around autograd: hook handles, checkpointing."""
