"""Functions of a few variables, evaluated at many points of a motion: what a sparse program is made of.

slices             which entries of the decision vector a point sees
evaluation_points  points of a motion, with their slices and what is known there
intermediate       torques in rows: symbols of their own, with derivatives of their own
functions          the functions of a block, whatever its slices: values and exact derivatives
block              a function at many points, with its derivatives
sum_of_squares     costs as sums of squares
kernel             a block as a compiled kernel
evaluation         where a block's functions run: CasADi's virtual machine, or compiled
assembly           sparse matrices from the values at all points
numeric            the same at one decision vector, as numbers
"""
