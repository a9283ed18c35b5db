"""Answers: the motion, its violations, its verification, its file."""

from colloc.solution.sample import JointReactions, Sample
from colloc.solution.solution import Solution
from colloc.solution.violations import Violation, measure_violations

__all__ = ["JointReactions", "Sample", "Solution", "Violation", "measure_violations"]
