"""Plain numerical mathematics on NumPy arrays: bases and quadrature."""
