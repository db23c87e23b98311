"""`torch.autograd.anomaly_mode`: detection of anomalies under the name of PyTorch's file."""

from __future__ import annotations

from .anomaly import detect_anomaly as detect_anomaly
from .anomaly import set_detect_anomaly as set_detect_anomaly
