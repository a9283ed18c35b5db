"""Inverse dynamics by interchangeable recursions, and what follows from them."""

from colloc.dynamics.forward import equations_of_motion
from colloc.dynamics.lagrange import lagrange
from colloc.dynamics.newton_euler import Reactions, joint_reactions, newton_euler

__all__ = ["Reactions", "equations_of_motion", "joint_reactions", "lagrange", "newton_euler"]
