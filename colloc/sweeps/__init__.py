"""Many problems at once: the optima that random starts lead to, and parameter studies.

search      multistart: random starts, the best of which are solved on the grid asked for
programs    the program with which many solves begin
guesses     whether the caller's guess fits
optima      the optima of a search, distinguished by cost and motion
sweep       sweep: a problem for many values, resumed from a folder
cases       its cases: which there are and who starts from whom, how one is solved and stored
table       its table: named columns, and the solutions behind its rows
executors   a task on many items: here, on any executor, on processes of our own
warnings    warnings of many solves, those that are alike said once
"""

from colloc.support.packages import register_public
from colloc.sweeps.executors import Processes
from colloc.sweeps.guesses import Independent
from colloc.sweeps.optima import Optima, Optimum, StartResult
from colloc.sweeps.search import multistart
from colloc.sweeps.sweep import sweep
from colloc.sweeps.table import Sweep

__all__ = ["Independent", "Optima", "Optimum", "Processes", "StartResult", "Sweep", "multistart", "sweep"]

register_public(__name__)
