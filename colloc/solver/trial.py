"""Check that IPOPT and the multifrontal linear solver agree on their interface.

A script for a process of its own: if they do not agree, the process may end in any way.
"""

import ctypes
import os
import sys
from typing import Any

import casadi as ca


def runs_alike(library: str) -> bool:
    """Whether a program that needs the inertia of its systems takes the same iterations with the library and MUMPS."""
    if sys.platform == "win32":
        ctypes.CDLL(library)
        library = os.path.basename(library)  # leads to what is loaded
    x = ca.MX.sym("x", 4)
    program = {
        "x": x,
        "f": (x[0] ** 2 - x[1]) ** 2 - x[0] * x[2] + ca.cos(3 * x[3]) - 0.5 * x[1] ** 2,
        "g": ca.vertcat(x[0] + x[1] * x[2] - x[3], ca.sumsqr(x)),
    }
    ours = {"linear_solver": "ma97", "hsllib": library, "ma97_u": 1e-2, "ma97_umax": 0.1, "ma97_nemin": 1}
    ends = []
    for options in ({"linear_solver": "mumps"}, ours | {"ma97_order": "amd", "ma97_scaling": "none"}):
        quiet: dict[str, Any] = {"print_level": 0, "sb": "yes", "option_file_name": ""}
        solver = ca.nlpsol("trial", "ipopt", program, {"print_time": False, "ipopt": quiet | options})
        end = solver(x0=[1.0, -1.0, 0.5, 0.1], lbx=-2.0, ubx=2.0, lbg=[0.0, 1.0], ubg=[0.0, 3.0])
        if not solver.stats()["success"]:
            return False
        ends.append((solver.stats()["iter_count"], solver.stats()["iterations"]["regularization_size"], end["x"]))
    (count, added, optimum), (own_count, own_added, own_optimum) = ends
    alike = all(abs(a - b) <= 1e-6 * abs(a) for a, b in zip(added, own_added, strict=False))
    return count == own_count and alike and float(ca.norm_inf(optimum - own_optimum)) < 1e-6


if __name__ == "__main__":
    print("begun", flush=True)
    sys.exit(not runs_alike(sys.argv[1]))
