"""`torch.distributed.elastic.multiprocessing`: what packages import of it."""
