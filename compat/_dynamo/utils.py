"""`torch._dynamo.utils`: what packages ask of PyTorch's compiler."""


def is_compile_supported(device_type: str) -> bool:
    """False: functions need not be written otherwise for a compiler here."""
    return False
