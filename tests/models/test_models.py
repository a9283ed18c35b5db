"""The ready-made mechanisms against printed values, closed forms, and the same tables in Pinocchio or plain NumPy.

Transforms here are written out by hand in NumPy, the tables of the arms are typed a second time, and the data files of
the human are read a second time: the tests share no code with the models.
"""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from math import cos, pi, radians, sin
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import colloc as co
from colloc import models
from colloc.dynamics import equations_of_motion
from colloc.model.kinematics import frames
from colloc.models.chains.serial import planar_chain, spatial_chain
from colloc.models.human43 import human43
from colloc.models.puma560 import puma560
from colloc.models.scara import scara
from colloc.models.stanford import TOOL, stanford
from tests.support.random_trees import branches, coordinates, evaluate, numbers, pin, random_state

G = 9.81
EVERY = (human43, puma560, scara, stanford, lambda: planar_chain(7), lambda: spatial_chain(7))


def dh(theta: Any, d: Any, a: float, alpha: float) -> np.ndarray:
    """Standard Denavit-Hartenberg matrix; complex arguments are welcome."""
    c, s, ka, sa = np.cos(theta), np.sin(theta), np.cos(alpha), np.sin(alpha)
    return np.array([[c, -s * ka, s * sa, a * c], [s, c * ka, -c * sa, a * s], [0, sa, ka, d], [0, 0, 0, 1]])


def gradient(fn: Callable[[np.ndarray], np.ndarray], q: np.ndarray) -> np.ndarray:
    """Derivatives of a vector function by complex steps, exact to rounding."""
    steps = np.asarray(q) + 1e-30j * np.eye(len(q))
    return np.imag([fn(row) for row in steps]).T / 1e-30


def mass_and_bias(model: co.Model, q: Any, qd: Any = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Mass matrix and bias torques as numbers."""
    symbols = coordinates(model)[:2]
    values = (np.broadcast_to(q, model.n), np.broadcast_to(qd, model.n))
    mass, bias = evaluate(equations_of_motion(model, *symbols), symbols, values)
    return mass, bias


def places(model: co.Model, q: Any) -> list[np.ndarray]:
    """Link frames in the world, each shape (4, 4)."""
    symbols = coordinates(model)
    rest = np.zeros(model.n)
    return evaluate(frames(model, *symbols).position, symbols, (np.broadcast_to(q, model.n), rest, rest))


@pytest.mark.parametrize("make", EVERY)
def test_the_recursions_agree(make):
    model, rng = make(), np.random.default_rng(400)
    symbols, state = coordinates(model), random_state(rng, model)
    first, second = evaluate(
        [f(model, *symbols) for f in (co.dynamics.newton_euler, co.dynamics.lagrange)], symbols, state
    )
    assert first == pytest.approx(second, rel=1e-9, abs=1e-9)


# The human.


def human_tables() -> tuple[list[dict[str, str]], dict[str, tuple[float, float]]]:
    """Rows of Table 1, and length and mass of every link of Table 2."""
    data = Path(models.__file__).parent / "data"
    joints, links = (
        list(csv.DictReader(line for line in (data / name).read_text("utf-8").splitlines() if line[0] != "#"))
        for name in ("human43_joints.csv", "human43_links.csv")
    )
    return joints, {row["link"]: (float(row["length_m"]), float(row["mass_kg"])) for row in links}


def human_frames(q: np.ndarray) -> list[np.ndarray]:
    """World and link frames by a product of explicit matrices, each shape (4, 4)."""
    joints, links = human_tables()

    def length(name: str) -> float:
        return 0.0 if not name else -links[name[1:]][0] if name[0] == "-" else links[name][0]

    result = [np.eye(4)]
    for row, x in zip(joints, q, strict=True):
        theta, d = radians(float(row["theta_offset_deg"])), length(row["d_length"])
        if row["type"] == "P":
            d = x if row["joint"] != "3" else -x
        else:
            theta = theta + x
        link = dh(theta, d, length(row["a_length"]), radians(float(row["alpha_deg"])))
        result.append(result[int(row["parent_joint"])] @ link)
    return result


def human_rods() -> list[tuple[int, int, float]]:
    """Start frame, end frame and mass of every link with mass."""
    joints, links = human_tables()
    named = [(row, (row["d_length"] + row["a_length"]).lstrip("-")) for row in joints]
    return [(int(row["parent_joint"]), int(row["joint"]), links[name][1]) for row, name in named if name]


def test_human_has_the_printed_branches():
    chains = [(6, 13, 5), (14, 21, 5), (22, 22, 5), (23, 31, 22), (32, 40, 22), (41, 43, 22)]
    parents = [0, 1, 2, 3, 4]  # equation 18, a branch at a time
    for first, last, parent in chains:
        parents += [parent, *range(first, last)]
    human = human43()
    assert [parent + 1 for parent in human.parents] == parents
    assert [k + 1 for k in branches(human)] == [1, 6, 14, 22, 23, 32, 41]  # equation 20


def test_human_has_the_printed_masses():
    model = human43()
    masses = [float(body.mass) for body in model.bodies if not body.mass.is_zero()]
    leg, arm = [4.5, 9.5, 3.7, 1.2, 0.2], [5.8, 1.9, 1.3, 0.5]
    assert masses == [*leg, *leg, 12.3, *arm, *arm, 8.0]
    assert sum(masses) == pytest.approx(77.5)


def test_human_stands_upright():
    """Ends of the limbs at q = 0 by adding up Table 2: z up, toes along y, the right side along x."""
    model = human43()
    where = {body.name: place[:3, 3] for body, place in zip(model.bodies, places(model, 0.0), strict=True)}
    hip, knee, ankle = 0.09, -0.44, -0.44 - 0.43
    shoulder, elbow, wrist = 0.49, 0.49 - 0.28, 0.49 - 0.28 - 0.26
    expected = {"j22_trunk": (0, 0, 0.49), "j43_head": (0, 0, 0.49 + 0.35)}
    for side, sign, leg, arm in (("right", 1, 6, 23), ("left", -1, 14, 32)):
        expected |= {
            f"j{leg:02}_{side}_hemipelvis": (sign * hip, 0, 0),
            f"j{leg + 3:02}_{side}_thigh": (sign * hip, 0, knee),
            f"j{leg + 4:02}_{side}_shank": (sign * hip, 0, ankle),
            f"j{leg + 6:02}_{side}_foot": (sign * hip, 0.16, ankle),
            f"j{leg + 7:02}_{side}_toes": (sign * hip, 0.16 + 0.06, ankle),
            f"j{arm + 1:02}_{side}_clavicle": (sign * 0.17, 0, shoulder),
            f"j{arm + 4:02}_{side}_upper_arm": (sign * 0.17, 0, elbow),
            f"j{arm + 6:02}_{side}_forearm": (sign * 0.17, 0, wrist),
            f"j{arm + 8:02}_{side}_hand": (sign * 0.17, 0, wrist - 0.19),
        }
    assert len(expected) == 20
    for name, place in expected.items():
        assert where[name] == pytest.approx(place, abs=1e-12), name


def test_human_pelvis_moves_up_forward_and_to_the_right():
    q = np.zeros(43)
    q[:3] = 0.1, 0.2, 0.3
    assert places(human43(), q)[2][:3, 3] == pytest.approx((0.3, 0.2, 0.1))


@pytest.mark.parametrize("seed", range(410, 413))
def test_human_frames_are_products_of_dh_matrices(seed):
    q = np.random.default_rng(seed).uniform(-pi, pi, 43)
    np.testing.assert_allclose(places(human43(), q), human_frames(q)[1:], rtol=0, atol=1e-12)


@pytest.mark.parametrize("seed", range(420, 422))
def test_human_dynamics_are_those_of_uniform_rods(seed):
    """A rod's kinetic energy is m/6 (v1 v1 + v1 v2 + v2 v2) with v1, v2 the velocities of its ends."""
    q = np.random.default_rng(seed).uniform(-pi, pi, 43)
    ends = gradient(lambda x: np.array([frame[:3, 3] for frame in human_frames(x)]).ravel(), q).reshape(44, 3, 43)
    mass, weight = np.zeros((43, 43)), np.zeros(43)
    for start, end, m in human_rods():
        v1, v2 = ends[start], ends[end]
        mass += m / 3 * (v1.T @ v1 + v2.T @ v2) + m / 6 * (v1.T @ v2 + v2.T @ v1)
        weight += m * G * (v1[2] + v2[2]) / 2
    m, bias = mass_and_bias(human43(), q)
    np.testing.assert_allclose(m, mass, rtol=0, atol=1e-11)
    np.testing.assert_allclose(bias, weight, rtol=0, atol=1e-10)
    assert bias[0] == pytest.approx(77.5 * G)
    assert np.linalg.matrix_rank(m, tol=1e-9, hermitian=True) == 40  # the head and the hands spin freely


def test_human_limbs_in_line_have_no_inertia():
    """The joints that turn a straight limb about itself at q = 0: arms at shoulder and forearm, feet, head."""
    mass, _ = mass_and_bias(human43(), 0.0)
    still = np.flatnonzero(np.diag(mass) < 1e-12) + 1
    np.testing.assert_array_equal(still, [12, 20, 25, 29, 34, 38, 42])
    assert np.linalg.matrix_rank(mass, tol=1e-9, hermitian=True) == 36


# Chains.


@pytest.mark.parametrize(("centre", "inertia"), [(0.5, None), (1.0, 0.0), (0.3, 0.02)])
def test_planar_chain_in_absolute_angles(centre, inertia):
    """The textbook mass matrix and weight: entry (i, j) in absolute angles is a constant times cos(phi_i - phi_j)."""
    n, length, m = 5, 0.7, 1.3
    q = np.random.default_rng(430).uniform(-pi, pi, n)
    phi = np.cumsum(q)
    # lever[k, i]: how far link i moves the centre of mass of link k when it turns by a radian.
    lever = length * (np.tri(n) + (centre - 1) * np.eye(n))
    about = m * length**2 / 12 if inertia is None else inertia
    absolute = m * lever.T @ lever * np.cos(phi[:, None] - phi) + about * np.eye(n)
    to_relative = np.tri(n)  # phi = to_relative @ q
    mass, bias = mass_and_bias(planar_chain(n, length, m, centre=centre, inertia=inertia), q)
    np.testing.assert_allclose(mass, to_relative.T @ absolute @ to_relative, rtol=1e-12)
    np.testing.assert_allclose(bias, to_relative.T @ (m * G * lever.sum(axis=0) * np.cos(phi)), rtol=1e-11)


def test_planar_chain_of_two_is_the_two_link_arm_with_slender_links():
    _, weight = mass_and_bias(planar_chain(2), 0.0)
    assert weight == pytest.approx([0.5 * G * (0.2 + 0.6), 0.5 * G * 0.2])


def test_spatial_chains_share_their_first_links():
    short, long = spatial_chain(4), spatial_chain(9)
    for a, b in zip(short.bodies, long.bodies, strict=False):
        assert (a.name, a.parent) == (b.name, b.parent)
        for x, y in ((a.joint.after, b.joint.after), (a.mass, b.mass), (a.com, b.com), (a.inertia, b.inertia)):
            np.testing.assert_array_equal(numbers(x), numbers(y))


def test_spatial_chain_leaves_nothing_to_exploit():
    model = spatial_chain(30)
    for body in model.bodies:
        assert 0.5 <= float(body.mass) <= 1.5
        assert np.abs(numbers(body.com)).min() > 1e-5
        assert np.abs(numbers(body.inertia)).min() > 1e-5
    mass, _ = mass_and_bias(model, 0.0)
    assert np.abs(mass).min() > 1e-6
    assert np.linalg.eigvalsh(mass)[0] > 1e-4


def test_a_chain_needs_a_link():
    for make in (planar_chain, spatial_chain):
        with pytest.raises(co.InputError, match="at least one body"):
            make(0)


# The arms, their tables typed again: DH rows with "q" for the joint variable, mass, centre of mass, and the moments of
# inertia about it, or about the origin of the link frame.

PUMA = [
    ("q", 0, 0, pi / 2, 1, (0, 0, 0), (0.175, 0.35, 0.175)),
    ("q", 0, 0.4318, 0, 17.4, (-0.3638, 0.006, 0.2275), (0.130, 0.524, 0.539)),
    ("q", 0.15005, 0.0203, -pi / 2, 4.8, (-0.0203, -0.0141, 0.070), (0.066, 0.086, 0.02)),
    ("q", 0.4318, 0, pi / 2, 0.82, (0, 0.019, 0), (0.0018, 0.0013, 0.0018)),
    ("q", 0, 0, -pi / 2, 0.34, (0, 0, 0), (0.0003, 0.0004, 0.0003)),
    ("q", 0, 0, 0, 0.09, (0, 0, 0.032), (0.00015, 0.00015, 0.00004)),
]
SCARA = [
    ("q", 1, 0.5, 0, 25, (-0.25, 0, 0), (0, 5, 5)),
    ("q", 0, 0.5, pi, 25, (-0.25, 0, 0), (0, 5, 5)),
    (0, "q", 0, 0, 0, (0, 0, 0), (0, 0, 0)),
    ("q", 0, 0, 0, 10, (0, 0, 0), (0.5, 0.5, 1)),
]
STANFORD_ABOUT_ORIGINS = [
    ("q", 0.412, 0, -pi / 2, 9.29, (0, 0.0175, -0.1105), (0.276, 0.255, 0.071)),
    ("q", 0.154, 0, pi / 2, 5.01, (0, -0.1054, 0), (0.108, 0.018, 0.1)),
    (-pi / 2, "q", 0, 0, 4.25, (0, 0, -0.6447), (2.51, 2.51, 0.006)),
    ("q", 0, 0, -pi / 2, 1.08, (0, 0.0092, -0.0054), (0.002, 0.001, 0.001)),
    ("q", 0, 0, pi / 2, 0.63, (0, 0, 0.0566), (0.003, 0.003, 0.0004)),
    ("q", 0, 0, 0, 0.51, (0, 0, 0.1554), (0.013, 0.013, 0.0003)),
]


def pinocchio_arm(rows: Sequence[Sequence[Any]], *, about_origins: bool = False) -> Any:
    """A serial arm in Pinocchio: each joint's frame is the previous link's, and the rest of a row moves with it."""
    model = pin.Model()
    model.gravity.linear = np.array([0, 0, -G])
    joint, offset = 0, pin.SE3.Identity()
    for k, (theta, d, a, alpha, mass, com, moments) in enumerate(rows):
        kind = pin.JointModelRZ() if theta == "q" else pin.JointModelPZ()
        joint = model.addJoint(joint, kind, offset, f"joint{k}")
        offset = pin.SE3(dh(0 if theta == "q" else theta, 0 if d == "q" else d, a, alpha))
        c, tensor = np.array(com, dtype=float), np.diag(np.array(moments, dtype=float))
        if about_origins:
            tensor = tensor + mass * pin.skew(c) @ pin.skew(c)
        model.appendBodyToJoint(joint, pin.Inertia(float(mass), c, tensor), offset)
    return model


@pytest.mark.parametrize("seed", range(440, 443))
@pytest.mark.parametrize(
    ("make", "rows", "about_origins"),
    [(puma560, PUMA, False), (scara, SCARA, False), (stanford, STANFORD_ABOUT_ORIGINS, True)],
)
def test_arms_agree_with_their_tables_in_pinocchio(make, rows, about_origins, seed):
    model, other = make(), pinocchio_arm(rows, about_origins=about_origins)
    state = random_state(np.random.default_rng(seed), model)
    symbols = coordinates(model)
    (tau,) = evaluate([co.dynamics.newton_euler(model, *symbols)], symbols, state)
    expected = pin.rnea(other, other.createData(), *state)
    assert tau == pytest.approx(expected, rel=1e-11, abs=1e-11)


def test_arms_hang_in_gravity_along_z():
    for model in (puma560(), scara(), stanford()):
        np.testing.assert_array_equal(model.gravity, (0, 0, -G))
        _, bias = mass_and_bias(model, 0.4)
        assert bias[0] == pytest.approx(0, abs=1e-12)


# Puma 560: values printed in the documentation and tests of Corke's Robotics Toolbox, gravity 9.81 m/s2. Its mass
# matrix contains the motors', and its third link has 0.0125 kg m2 about the forearm's axis.

NOMINAL = (0, pi / 4, pi, 0, pi / 4, 0)
MOTORS = np.array([200e-6] * 3 + [33e-6] * 3) * np.array([62.6111, 107.815, 53.7063, 76.0364, 71.923, 76.686]) ** 2
RAISED = 0.020 - 0.0125  # kg m2


def test_puma_reaches_the_printed_pose():
    expected = [[0, 0, 1, 0.5963], [0, 1, 0, -0.15005], [-1, 0, 0, 0.65748 - 26.45 * 0.0254], [0, 0, 0, 1]]
    np.testing.assert_allclose(places(puma560(), NOMINAL)[-1], expected, rtol=0, atol=5e-5)


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        (NOMINAL, (0, 31.6399, 6.0351, 0, 0.0283, 0)),
        ((0, pi / 4, -pi, 1, pi / 4, 0), (0, 31.6334, 6.0286, -0.0119, 0.0218, 0)),
        ((0, pi / 2, -pi, 1, pi / 2, 0), (0, 7.7198, 8.7439, -0.0238, 0, 0)),
        ((1, 2, 3, 4, 5, 6), (0, -7.9683, 8.4581, -0.0197, 0.0027, 0)),
    ],
)
def test_puma_carries_the_printed_gravity_load(q, expected):
    assert mass_and_bias(puma560(), q)[1] == pytest.approx(expected, abs=6e-5)


@pytest.mark.parametrize(
    ("q", "upper"),
    [
        (
            NOMINAL,
            [[3.6594, -0.4044, 0.1006, -0.0025, 0, 0], [4.4137, 0.3509, 0, 0.0024, 0], [0.9378, 0, 0.0015, 0],
             [0.1925, 0, 0], [0.1713, 0], [0.1941]],
        ),
        (
            (1, 2, 3, 4, 5, 6),
            [[2.6152, -0.6550, -0.0363, 0.0001, 0.0010, 0], [4.3038, 0.2953, -0.0008, -0.0017, 0],
             [0.9366, -0.0009, -0.0006, 0], [0.1926, 0, 0], [0.1713, 0], [0.1941]],
        ),
    ],
)  # fmt: skip
def test_puma_has_the_printed_inertia(q, upper):
    mass, _ = mass_and_bias(puma560(), q)
    expected = np.zeros((6, 6))
    expected[np.triu_indices(6)] = np.concatenate(upper)
    expected += np.triu(expected, 1).T - np.diag(MOTORS)
    expected[0, 0] += RAISED * cos(q[1] + q[2]) ** 2  # how much of the forearm's axis is vertical
    np.testing.assert_allclose(mass, expected, rtol=0, atol=6e-5)


def test_puma_has_the_printed_coriolis_torques():
    qd = np.array([1, 2, 3, 1, 2, 3])
    printed = np.array(
        [[-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001], [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0],
         [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0], [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
         [-0.0002, 0.0028, 0.0046, -0.0002, 0, 0], [0.0001, 0, 0, 0, 0, 0]]
    )  # fmt: skip
    slope = -RAISED * sin(2 * (NOMINAL[1] + NOMINAL[2]))  # of the first entry of the mass matrix
    raised = slope * qd[0] * np.array([qd[1] + qd[2], -qd[0] / 2, -qd[0] / 2, 0, 0, 0])
    torque = mass_and_bias(puma560(), NOMINAL, qd)[1] - mass_and_bias(puma560(), NOMINAL)[1]
    np.testing.assert_allclose(torque, printed @ qd + raised, rtol=0, atol=6e-5 * qd.sum())


# alpha, a, d, mass, centre of mass: modified Denavit-Hartenberg rows of Armstrong, Khatib and Burdick (1986).
ARMSTRONG = [
    (0, 0, 0, 0, (0, 0, 0)),
    (-pi / 2, 0, 0.2435, 17.4, (0.068, 0.006, -0.016)),
    (0, 0.4318, -0.0934, 4.8, (0, -0.070, 0.014)),
    (pi / 2, -0.0203, 0.4331, 0.82, (0, 0, -0.019)),
    (-pi / 2, 0, 0, 0.34, (0, 0, 0)),
    (pi / 2, 0, 0, 0.09, (0, 0, 0.032)),
]


def armstrong_energy(q: np.ndarray, side: int) -> np.ndarray:
    """Potential energy in Armstrong's frames, with the centre of mass of link 4 on either side of the wrist."""
    place, energy = np.eye(4), np.zeros(1)
    for k, (theta, (alpha, a, d, mass, com)) in enumerate(zip(q, ARMSTRONG, strict=True)):
        c, s, ka, sa = np.cos(theta), np.sin(theta), cos(alpha), sin(alpha)
        row = [[c, -s, 0, a], [s * ka, c * ka, -sa, -sa * d], [s * sa, c * sa, ka, ka * d], [0, 0, 0, 1]]
        place = place @ np.array(row)
        point = np.array([*com, 1.0]) * ([1, 1, -side, 1] if k == 3 else 1)
        energy = energy + mass * G * (place @ point)[2]
    return energy


@pytest.mark.parametrize("seed", range(450, 454))
def test_puma_is_armstrongs_arm_in_other_frames(seed):
    """The zero posture differs by half turns at three joints, and the forearm's length by 1.3 mm."""
    q = np.random.default_rng(seed).uniform(-pi, pi, 6)
    _, weight = mass_and_bias(puma560(), q + np.array([pi, pi, pi, 0, 0, 0]))
    beyond, before = (gradient(lambda x, s=side: armstrong_energy(x, s), q)[0] for side in (1, -1))
    assert weight == pytest.approx(beyond, abs=0.02)
    assert weight == pytest.approx(before, abs=0.02 + 2 * 0.019 * 0.82 * G)


# SCARA: forward kinematics and dynamics in closed form.


def test_scara_reaches_where_the_formula_says():
    q1, q2, q3, q4 = q = np.random.default_rng(460).uniform(-2, 2, 4)
    place, heading = places(scara(), q)[-1], q1 + q2 - q4
    x, y = (0.5 * f(q1) + 0.5 * f(q1 + q2) for f in (cos, sin))
    c, s = cos(heading), sin(heading)
    np.testing.assert_allclose(place, [[c, s, 0, x], [s, -c, 0, y], [0, 0, -1, 1 - q3], [0, 0, 0, 1]], atol=1e-14)


def test_scara_has_the_closed_form_dynamics():
    q = np.random.default_rng(461).uniform(-2, 2, 4)
    qd = np.array([0.7, -1.1, 0.4, 2.0])
    a, r, m, i, m_quill, i_quill = 0.5, 0.25, 25, 5, 10, 1
    c2, s2 = cos(q[1]), sin(q[1])
    m22 = m * r**2 + m_quill * a**2 + i + i_quill
    m12 = m22 + (m * a * r + m_quill * a**2) * c2
    m11 = m * r**2 + i + m * a**2 + m_quill * a**2 + 2 * m12 - m22
    expected = [[m11, m12, 0, -i_quill], [m12, m22, 0, -i_quill], [0, 0, m_quill, 0], [-i_quill, -i_quill, 0, i_quill]]
    h = -(m * a * r + m_quill * a**2) * s2
    mass, bias = mass_and_bias(scara(), q, qd)
    np.testing.assert_allclose(mass, expected, atol=1e-13)
    centrifugal = [h * qd[1] * (2 * qd[0] + qd[1]), -h * qd[0] ** 2, -m_quill * G, 0]
    np.testing.assert_allclose(bias, centrifugal, atol=1e-12)


# Stanford arm.


def test_stanford_reaches_where_the_formula_says():
    """Position of the tool in Paul's closed form, in which the wrist's first angle is counted from a right angle on."""
    q = np.random.default_rng(470).uniform(-2, 2, 6)
    (c1, s1), (c2, s2), (c4, s4), (c5, s5) = ((cos(x), sin(x)) for x in (q[0], q[1], q[3] - pi / 2, q[4]))
    d2, d3, d6 = 0.154, q[2], TOOL[2]
    expected = (
        c1 * s2 * d3 - s1 * d2 + d6 * (c1 * c2 * c4 * s5 + c1 * c5 * s2 - s1 * s4 * s5),
        s1 * s2 * d3 + c1 * d2 + d6 * (c1 * s4 * s5 + c2 * c4 * s1 * s5 + c5 * s1 * s2),
        0.412 + c2 * d3 + d6 * (c2 * c5 - c4 * s2 * s5),
    )
    tool = places(stanford(), q)[-1] @ [*TOOL, 1]
    assert tool[:3] == pytest.approx(expected, abs=1e-14)


def test_stanford_is_no_longer_than_its_designers_say():
    """Dobrotin and Scheinman (1973): a stroke of 38 inches and a reach of 52; no link is longer than that."""
    model = stanford()
    lower, upper = model.limits("position")
    assert upper[2] - lower[2] == pytest.approx(38 * 0.0254, abs=1e-4)
    assert upper[2] < 52 * 0.0254
    assert all(np.linalg.norm(numbers(body.com)) < 52 * 0.0254 for body in model.bodies)
