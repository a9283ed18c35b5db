"""Dynamics on SE(3): the algebra of twists, recursion, sensitivities and Hessian."""
