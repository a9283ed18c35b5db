"""Many problems at once: the optima that random starts lead to, and parameter studies."""

from colloc.support.packages import present
from colloc.sweeps.optima import Found, Optima, Optimum
from colloc.sweeps.search import multistart
from colloc.sweeps.sweep import sweep
from colloc.sweeps.table import Sweep

__all__ = ["Found", "Optima", "Optimum", "Sweep", "multistart", "sweep"]

present(__name__)
