"""Plain numerical mathematics on NumPy arrays.

bspline      spline bases of chosen breakpoints, degrees and smoothness
smoothing    splines through samples, or near noisy ones
quadrature   Gauss and Radau points, polynomials through points and their integrals
differences  derivatives by differences, to hold exact ones against
quadratic    sparse quadratic programs, and how sure their optima are
topp         the fastest speeds along a path under limits linear in its acceleration and squared speed
"""
