"""Descent methods side by side, on the motion of least torque."""
