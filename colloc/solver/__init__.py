"""Handing an NLP to a solver, watching it, and reading what came back."""

from colloc.solver.constant_rows import hopeless
from colloc.solver.ipopt import Ipopt, check_options
from colloc.solver.outcome import Outcome, Status
from colloc.solver.scaled import Hessian, check_hessian
from colloc.solver.start import Start

__all__ = ["Hessian", "Ipopt", "Outcome", "Start", "Status", "check_hessian", "check_options", "hopeless"]
