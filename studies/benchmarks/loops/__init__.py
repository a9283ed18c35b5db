"""A loop of control in other tools, for `benchmarks.ticks`: a file for each, which runs in a process of its own.

loop            the arm of MuJoCo, its target, and the time that a controller takes at every tick
with_colloc     `colloc.control.receding`
with_acados     real-time iterations and SQP, by HPIPM
with_crocoddyl  Box-FDDP
"""
