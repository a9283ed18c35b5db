"""Many problems at once: the optima that random starts lead to, and parameter studies."""

from colloc.many.optima import Found, Optima, Optimum
from colloc.many.search import multistart
from colloc.many.sweep import sweep
from colloc.many.table import Sweep
from colloc.support.packages import present

__all__ = ["Found", "Optima", "Optimum", "Sweep", "multistart", "sweep"]

present(__name__)
