"""Plain numerical mathematics on NumPy arrays: bases, smoothing and quadrature."""
