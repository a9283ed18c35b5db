"""Lengths and moment arms of arm26 beside those that OpenSim 4.6 has, and its inertia beside two pendulums."""

import casadi as ca
import numpy as np
import pytest

import colloc as co
from colloc.models.arm26 import arm26

NAMES = ("TRIlong", "TRIlat", "TRImed", "BIClong", "BICshort", "BRA")
# Postures, lengths [m] and moment arms of shoulder and elbow [m], as OpenSim 4.6 computes them.
OPENSIM = [
    (
        (0.8377, 2.0357), (0.35281, 0.21053, 0.19815, 0.33372, 0.28005, 0.11138),
        (-0.0290, 0.0, 0.0, 0.0139, -0.02992, 0.0), (-0.01976, -0.01978, -0.01978, 0.04685, 0.04685, 0.02378),
    ),
    (
        (1.1841, 0.5110), (0.32984, 0.17849, 0.16612, 0.39448, 0.35565, 0.14018),
        (-0.02246, 0.0, 0.0, 0.0067, -0.03343, 0.0), (-0.0241, -0.0241, -0.0241, 0.02609, 0.02609, 0.01311),
    ),
    (
        (0.0904, 1.9820), (0.32386, 0.20946, 0.19709, 0.35159, 0.27019, 0.11266),
        (-0.03762, 0.0, 0.0, 0.02142, 0.00222, 0.0), (-0.01982, -0.01983, -0.01983, 0.04773, 0.04773, 0.02391),
    ),
]  # fmt: skip


@pytest.mark.parametrize(("q", "lengths", "shoulder", "elbow"), OPENSIM)
def test_lengths_and_moment_arms_are_those_of_opensim(q, lengths, shoulder, elbow):
    arm = arm26()
    assert tuple(muscle.name for muscle in arm.muscles) == NAMES
    symbols = ca.SX.sym("q", 2)
    paths = co.muscles.path_lengths(arm.model, arm.muscles, symbols)
    values, slopes = (m.full() for m in ca.Function("f", [symbols], [paths, ca.jacobian(paths, symbols)])(q))
    assert (np.abs(values[:, 0] - lengths) < [3 * muscle.path.length_error for muscle in arm.muscles]).all()
    allowed = np.array([3 * muscle.path.moment_arm_error for muscle in arm.muscles])
    assert (np.abs(-slopes - np.transpose([shoulder, elbow])) < allowed[:, None]).all()


def test_it_swings_as_two_pendulums():
    """The mass matrix beside the energy of two bodies that turn about skew axes, by rotations written here."""
    arm = arm26()
    evaluator, q = co.Evaluator(arm.model), np.array([0.4, 1.1])
    rates = np.random.default_rng(0).standard_normal((5, 2))
    for qd in rates:
        energy = sum(pendulum(evaluator, q, qd, *body) for body in BODIES)
        assert qd @ evaluator.mass_matrix(q) @ qd / 2 == pytest.approx(energy, rel=1e-6)


BODIES = [
    ("upper_arm", 1.86457, -0.180496, (0.01481, 0.004551, 0.013193)),
    ("forearm", 1.53432, -0.181479, (0.019281, 0.001571, 0.020062)),
]


def pendulum(
    evaluator: co.Evaluator, q: np.ndarray, qd: np.ndarray, body: str, mass: float, com: float, inertia: tuple
) -> float:
    """Energy of a body by differences of its points' places [J]."""
    h = 1e-6
    frames = []
    for shift in (-h, h):
        places = [
            evaluator.point(body, point, q=q + shift * qd).position for point in np.vstack([np.zeros(3), np.eye(3)])
        ]
        frames.append((places[0], (np.array(places[1:]) - places[0]).T))
    (_, before), (_, after) = frames
    turn = ((after - before) / (2 * h)) @ ((after + before) / 2).T
    omega = ((before + after) / 2).T @ np.array([turn[2, 1], turn[0, 2], turn[1, 0]])
    ends = [place + frame @ (0, com, 0) for place, frame in frames]
    speed = (ends[1] - ends[0]) / (2 * h)
    return float(mass * speed @ speed / 2 + omega @ (np.array(inertia) * omega) / 2)
