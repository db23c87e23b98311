"""`torch._subclasses`: tensors without numbers, which packages look for. There are none here."""
