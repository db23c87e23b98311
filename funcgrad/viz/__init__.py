"""Pictures as text, drawn without any plotting library.

Layer 5. `line_chart` draws series of numbers, `jaxpr_graph` a program; `draw_jaxpr` gives the same
picture as a `Drawing`, which has SVG, DOT and HTML.
"""

from .boxes import Box, Drawing, Style
from .chart import line_chart
from .graph import draw_jaxpr, jaxpr_graph

__all__ = ["Box", "Drawing", "Style", "draw_jaxpr", "jaxpr_graph", "line_chart"]
