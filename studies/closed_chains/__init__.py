"""Motions of least torque of mechanisms whose links form loops."""
