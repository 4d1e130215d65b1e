"""The table of functions that the front end knows: see `registry`.

    registry ──▶ ufuncs, making ──▶ shapes ──▶ reductions ──▶ choosing, products, builtin
"""

from . import builtin, choosing, making, products, reductions, shapes, ufuncs
from .registry import METHODS, TABLE

__all__ = ["METHODS", "TABLE", "builtin", "choosing", "making", "products", "reductions", "shapes", "ufuncs"]
