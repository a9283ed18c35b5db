"""Answers: the motion, its violations, its verification, its file."""

from colloc.solution.answer import Answer
from colloc.solution.sample import JointReactions, Sample
from colloc.solution.sequence import SequenceSolution
from colloc.solution.solution import Solution
from colloc.solution.verify import Verification, verify

__all__ = ["Answer", "JointReactions", "Sample", "SequenceSolution", "Solution", "Verification", "verify"]
