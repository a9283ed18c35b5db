"""Many problems at once: the optima that random starts lead to."""

from colloc.many.optima import Found, Optima, Optimum
from colloc.many.search import multistart

__all__ = ["Found", "Optima", "Optimum", "multistart"]
