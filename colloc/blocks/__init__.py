"""Blocks of a sparse program: functions of a few variables, evaluated at many points of a motion.

slices             the entries of the decision vector for each point
evaluation_points  points of a motion, with their slices and data
intermediate       torques in rows, as separate symbols with their derivatives
functions          values and exact derivatives of a block's function, independent of slices
block              a function at many points, with its derivatives
sum_of_squares     costs as sums of squares
kernel             a block as a kernel
evaluation         execution of a block's functions: on CasADi's virtual machine, or compiled
assembly           sparse matrices from the values at all points
numeric            the same at one decision vector, as numbers
"""
