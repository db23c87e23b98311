"""From jaxprs to code: simplify, lower to NumPy calls, group, print."""
