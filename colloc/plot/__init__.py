"""Figures and animations of a solution."""

from colloc.plot.animation import animate
from colloc.plot.curves import joints, reactions, torques
from colloc.plot.iterations import convergence
from colloc.plot.motion import motion
from colloc.plot.page import summary

__all__ = ["animate", "convergence", "joints", "motion", "reactions", "summary", "torques"]
