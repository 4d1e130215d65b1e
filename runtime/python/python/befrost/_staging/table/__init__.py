"""The table of functions that the front end knows: see `registry`.

    registry ──▶ ufuncs, making ──▶ shapes ──▶ reductions ──▶ choosing, products, builtin
    composed, scalars, lists     what is written in terms of those
"""

from . import builtin, choosing, composed, lists, making, products, reductions, scalars, shapes, ufuncs
from .registry import METHODS, TABLE

__all__ = ["METHODS", "TABLE", "builtin", "choosing", "composed", "lists", "making", "products", "reductions", "scalars", "shapes",
           "ufuncs"]
