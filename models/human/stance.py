"""A human on a foot: the same mechanism as a tree whose root is the standing foot.

A foot that stays in place then needs no constraint, and the ground reaction is the wrench that the joints between the
world and the foot transmit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import casadi as ca

import colloc as co
from colloc.model.kinematics import frames
from colloc.model.transforms import inverse
from colloc.models.human.human import Human, Point

LATERAL, VERTICAL, FORWARD = "stance_lateral", "stance_vertical", "stance_forward"
YAW, LIST, PITCH, ROLL = "stance_yaw", "stance_list", "stance_pitch", "stance_roll"


def on_foot(human: Human, side: str) -> Human:
    """A human on joints that carry a foot through the world instead of the pelvis.

    Between the world and the body with heel and ball: slides along x, y and z, turns about y and z through the heel, a
    pitch about the lateral axis through the heel, positive where the toes rise, and a roll about the one through the
    ball, positive where the heel rises. At zero the foot is flat with the heel in the world's origin. A planar human
    has no joints out of its plane. The joints of the leg are reversed: names, coordinates, limits and torques are the
    same, and each now carries the body that was above it.

    Parameters
    ----------
    human : Human
    side : "r" or "l", or "both" for feet that move as one

    Returns
    -------
    Human
        Its `virtual` joints are those of the foot.

    Raises
    ------
    InputError
        For an unknown side.
    """
    if side not in human.feet:
        raise co.InputError(f"side must be one of {', '.join(human.feet)}, got {side!r}")
    bodies = {body.name: body for body in human.model.bodies}
    leg = [human.feet[side].ball.body]
    while leg[-1] != human.virtual[-1]:
        parent = bodies[leg[-1]].parent
        assert parent is not None
        leg.append(parent)
    base = _base(human, side)
    # Every body of the leg has the name of the joint that now carries it, which was that of the next one below.
    named = dict(zip(leg, [base[-1].name, *leg], strict=False))
    turned = [_on(bodies[above], name, _turned(bodies[below].joint), named[below])
              for below, above, name in zip(leg, leg[1:], leg, strict=False)]  # fmt: skip
    others = [
        replace(body, parent=named.get(body.parent or "", body.parent))
        for body in human.model.bodies
        if body.name not in leg and body.name not in human.virtual
    ]
    foot = _on(bodies[leg[0]], base[-1].name, base[-1].joint, base[-1].parent)
    model = replace(
        human.model,
        bodies=[*base[:-1], foot, *turned, *others],
        name=f"{human.model.name} on a foot",
        markers={name: (named.get(body, body), at) for name, (body, at) in human.model.markers.items()},
    )
    return replace(
        human,
        model=model,
        virtual=tuple(body.name for body in base),
        landmarks={name: Point(named.get(body, body), at) for name, (body, at) in human.landmarks.items()},
        parts={part: named.get(body, body) for part, body in human.parts.items()},
        signs={**human.signs, **{body.name: 1.0 for body in base}},
    )


def _on(body: co.Body, name: str, joint: co.model.Joint, parent: str | None) -> co.Body:
    return replace(body, name=name, joint=joint, parent=parent)


def _turned(joint: co.model.Joint) -> co.model.Joint:
    """The joint with parent and child exchanged, at the same coordinate."""
    return replace(joint, screw=joint.screw.reversed, before=inverse(joint.after), after=inverse(joint.before))


def _base(human: Human, side: str) -> Sequence[co.Body]:
    """Massless bodies between the world and the link frame of the foot."""
    foot, stand = human.feet[side], human.upright
    rest = ca.SX(human.model.n, 1)
    heel, ball = (co.model.point_motion(human.model, *point, q=stand).position for point in (foot.heel, foot.ball))
    frame = frames(human.model, stand, rest, rest).position[human.model.index(foot.ball.body)]
    joints = {
        LATERAL: co.prismatic((1, 0, 0)),
        VERTICAL: co.prismatic((0, 1, 0)),
        FORWARD: co.prismatic((0, 0, 1)),
        YAW: co.revolute((0, 1, 0)),
        LIST: co.revolute((0, 0, 1)),
        PITCH: co.revolute((-1, 0, 0)),
        ROLL: co.revolute((1, 0, 0), co.placement(ball - heel)),
    }
    if "pelvis_tx_lateral" not in human.model.joint_names:
        joints = {name: joints[name] for name in (VERTICAL, FORWARD, PITCH, ROLL)}
    joints[ROLL] = replace(joints[ROLL], after=ca.sparsify(co.placement(-ball) @ frame))
    names = [None, *joints]
    return [co.Body(name, joint, parent) for parent, (name, joint) in zip(names, joints.items(), strict=False)]
