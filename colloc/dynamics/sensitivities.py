"""First-order sensitivities of the inverse dynamics: what every derivative recursion returns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import casadi as ca

from colloc.model import Load, Model

InverseDynamics = Callable[[Model, ca.SX, ca.SX, ca.SX, Sequence[Load]], ca.SX]


class Sensitivities(NamedTuple):
    """Actuator torques and their derivatives; entry (i, m) is dtau_i/dq_m, dtau_i/dqd_m, dtau_i/dqdd_m.

    Parameters
    ----------
    tau : SX, shape (n,) [N m, N]
    dq, dqd, dqdd : SX, shape (n, n), sparse
        Only entries in which one joint is an ancestor of the other, or the same, are stored.
    """

    tau: ca.SX
    dq: ca.SX
    dqd: ca.SX
    dqdd: ca.SX
