"""The libraries that came with an installed wheel are used, where there is no compiler and nothing can be kept."""

import numpy as np

import colloc as co
from colloc.kernels import Compile, CompileError
from colloc.kernels.options import compiler_command
from colloc.kernels.shipped import FOLDER
from colloc.models.panda import panda
from colloc.solver.linear_solvers import OURS, default_linear_solver

try:
    raise AssertionError(f"there is a compiler, {compiler_command(Compile())}")
except CompileError:
    pass
assert FOLDER.is_dir(), f"{FOLDER} is not there"
still, there = (0.0, -0.5, 0.0, -2.0, 0.0, 1.5, 0.0), (1.0, 0.3, -0.8, -1.2, 0.5, 2.0, 0.7)
reach = co.transcription.point_to_point(panda(), still, there)
assert default_linear_solver(10_000, None) == OURS
fast, slow = (co.solve(reach, co.BSpline(40), compile=choice, solver=co.Ipopt(linear_solver=solver))
              for choice, solver in ((None, OURS), (False, "mumps")))  # fmt: skip
np.testing.assert_allclose(fast.cost, slow.cost, rtol=1e-7)
ratio = slow.seconds["callbacks"] / fast.seconds["callbacks"]
assert ratio > 2, ratio  # 19 where it was measured
print(f"a wheel with its libraries: callbacks {ratio:.0f} times as fast as without")
