"""The table of a model: bodies, their joints, as Denavit-Hartenberg rows where possible, and limits."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import casadi as ca
import numpy as np

from colloc.model.body import Body
from colloc.model.coupling import Coupling
from colloc.model.passive import Passive
from colloc.support.display import Table, short

_HEADER = ("body", "parent", "joint", "theta [rad]", "d [m]", "a [m]", "alpha [rad]", "mass [kg]", "q", "tau")


def bodies_table(
    title: str, bodies: Sequence[Body], markers: Mapping[str, tuple[str, ca.SX]], couplings: Mapping[str, Coupling]
) -> Table:
    """One row per body; passive parts of joints, couplings, tips and markers in the notes."""
    rows = []
    for body in bodies:
        limits = body.joint.limits
        cells = (body.name, body.parent or "world", _joint_cell(body), *_dh_cells(body), _cell(body.mass))
        rows.append((*cells, _range(limits.position), _range(limits.torque)))
    notes = [f"{b.joint_name}: {', '.join(_passive_parts(b.joint.passive))}" for b in bodies if b.joint.passive.parts]
    notes += [f"{joint} = {coupling}" for joint, coupling in couplings.items()]
    notes += [f"tip of {b.name}: at {_place(b.tip)} m" for b in bodies if b.tip is not None]
    notes += [f"marker {name}: on {body} at {_place(point)} m" for name, (body, point) in markers.items()]
    return Table(title, _HEADER, rows, tuple(notes))


def _joint_cell(body: Body) -> str:
    """Label of the joint, with its name if it differs from the body's."""
    name = body.joint.name
    return body.joint.kind if name in (None, body.name) else f"{name}, {body.joint.kind}"


def _dh_cells(body: Body) -> tuple[str, str, str, str]:
    """DH row of a joint (the joint variable as q), dashes if it has none."""
    after, joint = body.joint.after, body.joint
    constant = joint.before.is_constant() and after.is_constant()
    if not constant or (joint.turns and joint.slides) or tuple(joint.axis) != (0, 0, 1):
        return ("-", "-", "-", "-")
    if not np.array_equal(np.array(ca.DM(joint.before)), np.eye(4)) or float(after[2, 0]) != 0:
        return ("-", "-", "-", "-")
    m = np.array(ca.DM(after))
    theta, alpha = math.atan2(m[1, 0], m[0, 0]), math.atan2(m[2, 1], m[2, 2])
    a, d = m[0, 3] * math.cos(theta) + m[1, 3] * math.sin(theta), m[2, 3]
    sliding = not joint.turns
    return (
        short(theta) if sliding else _plus("q", theta),
        _plus("q", d) if sliding else short(d),
        short(a),
        short(alpha),
    )


def _plus(symbol: str, offset: float) -> str:
    return symbol if abs(offset) < 1e-12 else f"{symbol} {'+' if offset > 0 else '-'} {short(abs(offset))}"


def _passive_parts(passive: Passive) -> list[str]:
    """Names and numbers of the passive parts that a joint has."""
    parts = {name: f"{name} {_cell(getattr(passive, name))}" for name in passive.parts if name != "friction"}
    if "stiffness" in parts:
        parts["stiffness"] += f" about {_cell(passive.rest)}"
    if (friction := passive.friction) is not None:
        parts["friction"] = f"friction {_cell(friction.level)} from {_cell(friction.velocity)} on"
    return list(parts.values())


def _place(point: ca.SX) -> str:
    return f"({', '.join(_cell(point[k]) for k in range(3))})"


def _cell(value: ca.SX) -> str:
    return short(float(value)) if value.is_constant() else str(value)


def _range(limits: tuple[float, float]) -> str:
    return "free" if limits == (-math.inf, math.inf) else f"[{short(limits[0])}, {short(limits[1])}]"
