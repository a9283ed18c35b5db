"""Lagrangian dynamics in 4x4 transforms: recursive, its sensitivities, and the regular closed form."""
