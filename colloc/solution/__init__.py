"""Answers: the motion, its violations, its verification, its file."""

from colloc.solution.sample import JointReactions, Sample
from colloc.solution.sequence import SequenceSolution, solution_of
from colloc.solution.solution import BaseSolution, Solution

__all__ = ["BaseSolution", "JointReactions", "Sample", "SequenceSolution", "Solution", "solution_of"]
