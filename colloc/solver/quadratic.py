"""Quadratic programs solved by IPOPT, including those with flat directions or negative curvature."""

from __future__ import annotations

import casadi as ca

from colloc.kernels import Compile
from colloc.solver.linear_solvers import default_linear_solver, in_terms_of_ipopt
from colloc.transcription.quadratic import QuadraticOptimum, QuadraticProgram

# Usually 7 to 30 iterations suffice; others rarely converge, and each may take seconds. Every bound has a product of
# multiplier and distance of about the tolerance, and thousands of them add up.
_IPOPT = {"print_level": 0, "sb": "yes", "max_iter": 60, "tol": 1e-10, "acceptable_tol": 1e-7, "acceptable_iter": 5}
_IPOPT |= dict.fromkeys(("hessian_constant", "jac_c_constant", "jac_d_constant"), "yes")

# Added curvature of flat directions, with which IPOPT takes fewer iterations than the hundreds needed otherwise.
_RIDGE = 1e-8


def quadratic_optimum(program: QuadraticProgram, compile: bool | Compile | None = None) -> QuadraticOptimum:
    """Solve by IPOPT, usually more slowly than PIQP; its linear solver is compiled if `solve` does so."""
    n, m = program.g.size, program.low.size
    x, p, lam_f, lam_g = (ca.MX.sym(name, size) for name, size in (("x", n), ("p", 0), ("lam_f", 1), ("lam_g", m)))
    ridged = program.H + _RIDGE * ca.DM.eye(n)
    H, A = ca.MX(ridged), ca.MX(program.A)
    f, slope = ca.dot(program.g, x) + ca.dot(x, H @ x) / 2, ca.densify(H @ x) + program.g
    upper, g = lam_f * ca.MX(ca.triu(ridged)), ca.densify(A @ x)
    options = {
        "print_time": False,
        "error_on_fail": False,
        "ipopt": in_terms_of_ipopt(_IPOPT | {"linear_solver": default_linear_solver(n + m, compile)}),
        "grad_f": ca.Function("grad_f", [x, p], [f, slope], ["x", "p"], ["f", "grad_f_x"]),
        "jac_g": ca.Function("jac_g", [x, p], [g, A], ["x", "p"], ["g", "jac_g_x"]),
        "hess_lag": ca.Function(
            "hess_lag", [x, p, lam_f, lam_g], [upper], ["x", "p", "lam_f", "lam_g"], ["triu_hess_gamma_x_x"]
        ),
    }
    solver = ca.nlpsol("ipopt", "ipopt", {"x": x, "f": f, "g": g}, options)
    result = solver(x0=0.0, lbx=program.least, ubx=program.most, lbg=program.low, ubg=program.high)
    return program.optimum_at(result["x"], result["lam_g"], result["lam_x"], solved=solver.stats()["success"])
