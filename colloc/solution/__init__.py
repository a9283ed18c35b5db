"""Answers: the motion, its violations, its verification, its file."""

from colloc.solution.answer import Answer
from colloc.solution.sample import JointReactions, Sample
from colloc.solution.sequence import SequenceSolution
from colloc.solution.solution import Solution

__all__ = ["Answer", "JointReactions", "Sample", "SequenceSolution", "Solution"]
