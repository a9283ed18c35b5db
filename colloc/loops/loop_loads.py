"""The forces in loops as loads on the bodies on either side."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import casadi as ca

from colloc.dynamics.instant import Instant
from colloc.loops.closure import joint_path, loop_wrench
from colloc.loops.loop import Frame
from colloc.loops.mechanism import ClosedChain
from colloc.loops.reduction import all_multipliers
from colloc.model import Load

Multipliers = Callable[[Instant], ca.SX]


def loop_loads(chain: ClosedChain, multipliers: Multipliers) -> tuple[Load, ...]:
    """The forces of the loops: on the second body of each, and the opposite on the first.

    `multipliers` are a function of the instant, SX, shape (r,) [N, N m], for the independent rows; see `loop_wrenches`.
    """
    sides = [
        (frame, k, sign)
        for k, loop in enumerate(chain.loops)
        for frame, sign in ((loop.second, 1.0), (loop.first, -1.0))
    ]
    return tuple(
        Load(
            frame.body,
            partial(_force, chain, multipliers, loop, sign),
            partial(_moment, chain, multipliers, loop, sign, frame),
            frame.placement[:3, 3],
        )
        for frame, loop, sign in sides
        if frame.body is not None
    )


def _wrench(chain: ClosedChain, multipliers: Multipliers, loop: int, now: Instant) -> tuple[ca.SX, ca.SX]:
    """Force, and moment about the origin of the second frame, on the second body, in the axes of the world."""
    share = all_multipliers(chain, multipliers(now))[loop]
    wrench = loop_wrench(chain.loops[loop], joint_path(chain.model, chain.loops[loop], now.q).transform, share)
    rotation = _rotation(chain.loops[loop].first, now)
    return rotation @ wrench[3:], rotation @ wrench[:3]


def _force(chain: ClosedChain, multipliers: Multipliers, loop: int, sign: float, now: Instant) -> ca.SX:
    return sign * _wrench(chain, multipliers, loop, now)[0]


def _moment(chain: ClosedChain, multipliers: Multipliers, loop: int, sign: float, frame: Frame, now: Instant) -> ca.SX:
    """Moment about the origin of one of the loop's frames."""
    force, moment = _wrench(chain, multipliers, loop, now)
    arm = _origin(chain.loops[loop].second, now) - _origin(frame, now)
    return sign * (moment + ca.cross(arm, force))


def _origin(frame: Frame, now: Instant, shift: ca.SX | None = None) -> ca.SX:
    """Position of a frame's origin in the world, optionally with a shift in the axes of its body."""
    place = frame.placement[:3, 3] if shift is None else frame.placement[:3, 3] + shift
    return place if frame.body is None else now.point(frame.body, place).position


def _rotation(frame: Frame, now: Instant) -> ca.SX:
    """Axes of a frame in those of the world, SX, shape (3, 3)."""
    axes = ca.horzsplit(frame.placement[:3, :3])
    return ca.horzcat(*(_origin(frame, now, axis) - _origin(frame, now) for axis in axes))
