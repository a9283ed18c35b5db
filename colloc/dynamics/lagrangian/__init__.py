"""Lagrangian dynamics in 4x4 transforms: recursion, sensitivities, and the regular closed form."""
