"""Many solves: the optima that random starts reach, and parameter studies.

search      multistart: random starts, the best of which are solved on the final grid
programs    the program with which many solves begin
guesses     checks of the caller's guess
optima      the optima of a search, distinguished by cost and motion
sweep       sweep: a problem for many values, resumed from a folder
cases       cases of a sweep: enumeration, start from a neighbour, solve and storage
many        problems of one pattern, side by side in vectors
front       Pareto fronts of two or three costs
table       table of a sweep: named columns, and solutions of rows
executors   a task on many items, in this process or on an executor
warnings    warnings of many solves, grouped
"""

from colloc.support.packages import register_public
from colloc.sweeps.executors import Processes
from colloc.sweeps.front import Front, pareto_front
from colloc.sweeps.guesses import Independent
from colloc.sweeps.many import Many, solve_many
from colloc.sweeps.optima import Optima, Optimum, StartResult
from colloc.sweeps.search import multistart
from colloc.sweeps.sweep import sweep
from colloc.sweeps.table import Sweep

__all__ = [
    "Front", "Independent", "Many", "Optima", "Optimum", "Processes", "StartResult", "Sweep", "multistart",
    "pareto_front", "solve_many", "sweep",
]  # fmt: skip

register_public(__name__)
