"""Answers that several tests judge."""

import casadi as ca
import pytest

import colloc as co
from colloc.models.closed.four_bar import four_bar


@pytest.fixture(scope="session")
def closed_chain() -> co.Solution:
    """A crank that turns, and the joints that follow it."""
    chain = four_bar()
    ends = [co.initial(q={"crank": 0.5}, qd=0.0), co.final(q={"crank": 1.0}, qd=0.0)]
    cost, joints = co.integral(lambda now: ca.sumsqr(now.tau)), co.loops.IndependentJoints(chain)
    return co.solve(
        co.Problem(chain.model, 1.0, cost, ends, parts=[joints]),
        co.BSpline(6),
        plan=[co.refinement.Solve(between="nodes")],
    )
