"""Pictures as SVG text, drawn without any plotting library.

Layer 5. `line_chart` draws series of numbers, `jaxpr_graph` draws a program.
"""

from .chart import line_chart
from .graph import jaxpr_graph

__all__ = ["jaxpr_graph", "line_chart"]
