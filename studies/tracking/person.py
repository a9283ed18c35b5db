"""A squat in the sagittal plane, simulated and recorded with noise: markers and the force plate below the feet.

Segments after Winter (2009), *Biomechanics and motor control of human movement*, Table 4.1: mass as a share of the
body's, centre of mass and radius of gyration as shares of the length. Both legs move as one, the trunk carries head
and arms.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

import colloc as co

BODY, STATURE = 75.0, 1.75  # kg, m
# Share of the mass, share of the stature, centre of mass from the upper end, radius of gyration.
SEGMENTS = {
    "shank": (2 * 0.0465, 0.246, 0.433, 0.302),
    "thigh": (2 * 0.100, 0.245, 0.433, 0.323),
    "trunk": (0.678, 0.288, 0.374, 0.496),
}
MASSES = {name: BODY * share for name, (share, *_) in SEGMENTS.items()}
LENGTHS = {name: STATURE * row[1] for name, row in SEGMENTS.items()}
MARKERS = {"knee": ("shank", 0.04), "hip": ("thigh", 0.05), "shoulder": ("trunk", 0.03)}  # m in front of the upper end

DURATION, RATE, STEP = 3.0, 100, 1e-3  # s, samples per second, s of the simulation
STIFFNESS, DAMPING = (3000.0, 2000.0, 1500.0), (300.0, 200.0, 150.0)  # N m/rad, N m s/rad, of the feedback
NOISE = {"marker": 0.003, "force": 5.0, "moment": 2.0}  # m, N, N m
HIDDEN = ("hip", 1.2, 1.4)  # out of sight between these times, s


class Recording(NamedTuple):
    """Measured and true values at times t.

    Parameters
    ----------
    t : ndarray, shape (N,) [s]
    markers : dict of str to ndarray, shape (N, 2) [m]
        NaN while out of sight.
    force, moment : ndarray, shape (N, 2) [N] and (N,) [N m]
        From the ground, about the ankle.
    q, tau : ndarray, shape (N, 3) [rad], [N m]
        True angles and torques.
    """

    t: np.ndarray
    markers: dict[str, np.ndarray]
    force: np.ndarray
    moment: np.ndarray
    q: np.ndarray
    tau: np.ndarray


def person(masses: Mapping[str, Any], lengths: Mapping[str, Any]) -> co.Model:
    """Shank, thigh and trunk above the ankle, in the x-y plane; each frame at the segment's upper end.

    Parameters
    ----------
    masses, lengths : mapping of str to float or SX [kg], [m]
    """
    bodies: list[co.Body] = []
    for name, (_, _, com, gyration) in SEGMENTS.items():
        mass, length = masses[name], lengths[name]
        turning = mass * (gyration * length) ** 2
        bodies.append(
            co.Body(
                name,
                co.dh_revolute(a=length, name={"shank": "ankle", "thigh": "knee", "trunk": "hip"}[name]),
                parent=bodies[-1].name if bodies else None,
                mass=mass,
                com=(-com * length, 0, 0),
                inertia=(0, turning, turning),
            )
        )
    markers = {name: (body, (0, -front, 0)) for name, (body, front) in MARKERS.items()}
    return co.Model(bodies, name="person", markers=markers)


def command(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Angles, velocities and accelerations of two squats in balance, the trunk swaying, each shape (N, 3)."""
    time = ca.SX.sym("t")
    phase = 2 * np.pi * time / DURATION
    depth, lean = (1 - ca.cos(2 * phase)) / 2, 0.03 * ca.sin(3 * phase)
    q = ca.vertcat(np.pi / 2 - 0.1 - 0.45 * depth, 0.2 + 1.3 * depth, -0.2 - 1.22 * depth - lean)
    qd = ca.jacobian(q, time)
    sampled = ca.Function("command", [time], [q, qd, ca.jacobian(qd, time)])
    at, rate, change = (np.array(part).T for part in sampled(t[None]))
    return at, rate, change


def simulated() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The motion of the true model under its torques and feedback: times, states and torques at the samples."""
    model = person(MASSES, LENGTHS)
    t = STEP * np.arange(round(DURATION / STEP) + 2)
    q, qd, qdd = command(t)
    torque = co.Evaluator(model).torque(q, qd, qdd)
    gains = -np.hstack([np.diag(STIFFNESS), np.diag(DAMPING)])
    x, u = co.control.rollout(
        co.control.discretise(model, STEP),
        np.concatenate([q[0], qd[0]]),
        torque[:-1],
        reference=np.column_stack([q, qd]),
        gains=np.broadcast_to(gains, (t.size - 1, 3, 6)),
    )
    every = round(1 / RATE / STEP)
    held = np.vstack([u[:1], (u[1:] + u[:-1]) / 2])  # torques are constant through a step
    return t[:-1:every], x[:-1:every], held[::every]


def recorded(motion: tuple[np.ndarray, np.ndarray, np.ndarray], rng: np.random.Generator) -> Recording:
    """The motion with noise in all that is measured."""
    t, x, tau = motion
    model = person(MASSES, LENGTHS)
    q, qd = x[:, :3], x[:, 3:]
    qdd = co.Evaluator(model).forward_dynamics(q, qd, tau)
    a, b, c = (ca.SX.sym(name, 3) for name in ("q", "qd", "qdd"))
    wrench = co.dynamics.root_wrench(model, a, b, c)
    plate = ca.Function("plate", [a, b, c], [wrench.force[:2], wrench.moment[2]])
    force, moment = (np.array(part).T for part in plate(q.T, qd.T, qdd.T))
    markers = {}
    for name, (body, front) in MARKERS.items():
        place = co.Evaluator(model).point(body, (0, -front, 0), q=q).position[:, :2]
        markers[name] = place + NOISE["marker"] * rng.standard_normal(place.shape)
    name, begin, end = HIDDEN
    markers[name][(begin <= t) & (t <= end)] = np.nan
    return Recording(
        t,
        markers,
        force + NOISE["force"] * rng.standard_normal(force.shape),
        moment[:, 0] + NOISE["moment"] * rng.standard_normal(t.size),
        q,
        tau,
    )
