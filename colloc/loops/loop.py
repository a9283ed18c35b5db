"""A loop: a frame on one body tied to a frame on another body or on the world, in some directions.

The transform G = (R, p) from the second frame to the first is the product of the joint transforms on the path between
the two. The constructors make closures of rows that are linear in G,

    phi_k = tr(G M_k),    M_k constant, shape (4, 4),

which are the basic constraints of Haug (1989, "Computer-aided kinematics and dynamics of mechanical systems", chapter
9): components of p [m] that must vanish, and components of R [rad], namely e' R a, the sine of the angle by which an
axis a leans, or the axial vector of R, the sine of the angle about each axis, where no rotation is free.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from colloc.model import placement as place
from colloc.model.transforms import across, rigid, unit_vector
from colloc.support.checks import InputError, float_array, quoted, text


@dataclass(frozen=True, eq=False)
class Frame:
    """A frame fixed in a body or in the world.

    Parameters
    ----------
    body : str or None
        Name of the body; None is the world.
    placement : shape (4, 4), or (3,) for a frame that is only shifted [m], optional
        Transform from the frame to the link frame of the body, see `colloc.placement`; the identity by default.

    Raises
    ------
    InputError
        For a placement that is not a rigid transform of numbers.

    Examples
    --------
    >>> tip = co.loops.Frame("coupler", (0.5, 0.0, 0.0))
    >>> ground = co.loops.Frame(None, co.placement((1.0, 0.0, 0.0), rpy=(0, 0, np.pi / 2)))
    """

    body: str | None
    placement: Any = None

    def __post_init__(self):
        if self.body is not None:
            text("body of a frame", self.body)
        placement = ca.SX.eye(4) if self.placement is None else self.placement
        shape = placement.shape if isinstance(placement, ca.SX | ca.DM) else _sizes(placement)
        transform = place(placement) if shape in ((3,), (3, 1)) else rigid("placement", placement)
        if not transform.is_constant():
            raise InputError(
                f"placement of the frame on {self.body or 'the world'!r} must be numbers, got {quoted(placement)}"
            )
        object.__setattr__(self, "placement", transform)


@dataclass(frozen=True, eq=False)
class Loop:
    """A closure; made by `weld`, `revolute_loop`, `prismatic_loop`, `cylindrical_loop`, `spherical_loop`,
    `planar_loop`, `on_line` and `on_plane`.

    Parameters
    ----------
    kind : str
        Name of the equivalent joint, such as "revolute"; "weld", "on_line" or "on_plane".
    name : str
    first, second : Frame
    forms : ndarray, shape (rows, 4, 4)
        M of every row, in the first frame: translations, then rotations.
    translations : int
        Number of rows for p [m]; the others are for R [rad].
    cosine : ndarray, shape (4, 4)
        tr(G cosine) is the cosine of the angle whose sine the rotation rows have: it is -1 at their other root, half a
        turn away from alignment. It is 1 without rotation rows.

    Examples
    --------
    >>> tip, end = co.loops.Frame("coupler", (0.5, 0, 0)), co.loops.Frame("rocker", (0.3, 0, 0))
    >>> co.loops.weld("closure", tip, end).kind
    'weld'
    """

    kind: str
    name: str
    first: Frame
    second: Frame
    forms: np.ndarray
    translations: int
    cosine: np.ndarray

    @property
    def rows(self) -> int:
        return len(self.forms)


def weld(name: str, first: Any, second: Any = None) -> Loop:
    """The frames coincide: nothing is free.

    Parameters
    ----------
    name : str
    first, second : Frame, or str for the link frame of a body; None is the world's
        The loop force is that of the first on the second.

    Examples
    --------
    >>> loop = co.loops.weld("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    6
    """
    return _loop("weld", name, first, second, np.eye(3), _no_turn())


def revolute_loop(name: str, first: Any, second: Any = None, axis: Any = (0, 0, 1)) -> Loop:
    """Origins coincide, and the second frame turns about an axis; frames as in `weld`.

    Parameters
    ----------
    axis : shape (3,)
        The same direction in both frames; normalised.

    Examples
    --------
    >>> loop = co.loops.revolute_loop("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    5
    """
    a = unit_vector("axis", axis)
    return _loop("revolute", name, first, second, np.eye(3), _no_lean(a), a)


def prismatic_loop(name: str, first: Any, second: Any = None, axis: Any = (0, 0, 1)) -> Loop:
    """The second frame slides along an axis without turning; parameters as in `revolute_loop`.

    Examples
    --------
    >>> loop = co.loops.prismatic_loop("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    5
    """
    return _loop("prismatic", name, first, second, across(unit_vector("axis", axis)), _no_turn())


def cylindrical_loop(name: str, first: Any, second: Any = None, axis: Any = (0, 0, 1)) -> Loop:
    """The second frame slides along an axis and turns about it; parameters as in `revolute_loop`.

    Examples
    --------
    >>> loop = co.loops.cylindrical_loop("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    4
    """
    a = unit_vector("axis", axis)
    return _loop("cylindrical", name, first, second, across(a), _no_lean(a), a)


def spherical_loop(name: str, first: Any, second: Any = None) -> Loop:
    """Origins coincide, and the second frame turns freely; frames as in `weld`.

    Examples
    --------
    >>> tip, end = co.loops.Frame("coupler", (0.5, 0, 0)), co.loops.Frame("rocker", (0.3, 0, 0))
    >>> co.loops.spherical_loop("closure", tip, end).forms.shape[0]  # rows
    3
    """
    return _loop("spherical", name, first, second, np.eye(3), np.zeros((0, 4, 4)))


def planar_loop(name: str, first: Any, second: Any = None, normal: Any = (0, 0, 1)) -> Loop:
    """The second frame slides and turns in the plane through the first; parameters as in `revolute_loop`.

    Examples
    --------
    >>> loop = co.loops.planar_loop("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    3
    """
    n = unit_vector("normal", normal)
    return _loop("planar", name, first, second, n[None, :], _no_lean(n), n)


def on_line(name: str, first: Any, second: Any = None, axis: Any = (0, 0, 1)) -> Loop:
    """The origin of the second frame lies on a line through that of the first and turns freely there.

    With the normal of the plane as axis it is the pin of a planar mechanism, two rows. Parameters as in
    `revolute_loop`; the direction of the line is fixed in the first frame.

    Examples
    --------
    >>> loop = co.loops.on_line("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    2
    """
    directions = across(unit_vector("axis", axis))
    return _loop("on_line", name, first, second, directions, np.zeros((0, 4, 4)))


def on_plane(name: str, first: Any, second: Any = None, normal: Any = (0, 0, 1)) -> Loop:
    """The origin of the second frame lies on a plane through that of the first; parameters as in `on_line`.

    Examples
    --------
    >>> loop = co.loops.on_plane("closure", "coupler", co.loops.Frame("rocker", (0.3, 0.0, 0.0)))
    >>> loop.forms.shape[0]  # rows, some of which may be redundant
    1
    """
    n = unit_vector("normal", normal)
    return _loop("on_plane", name, first, second, n[None, :], np.zeros((0, 4, 4)))


def _loop(
    kind: str,
    name: str,
    first: Any,
    second: Any,
    directions: np.ndarray,
    turns: np.ndarray,
    axis: np.ndarray | None = None,
) -> Loop:
    text("loop name", name)
    shifts = np.zeros((len(directions), 4, 4))
    shifts[:, 3, :3] = directions  # tr(G M) = e . p
    frames = [_frame(name, which, value) for which, value in (("first", first), ("second", second))]
    if frames[0].body == frames[1].body:
        raise InputError(f"loop {name!r} ties {frames[0].body or 'the world'!r} to itself; give two bodies")
    return Loop(
        kind, name, frames[0], frames[1], np.concatenate([shifts, turns]), len(directions), _cosine(turns, axis)
    )


def _sizes(placement: Any) -> tuple[int, ...]:
    """Shape of a placement, which may have symbols in its rows."""
    if not isinstance(placement, list | tuple):
        return float_array("placement", placement).shape
    return () if any(isinstance(row, list | tuple | np.ndarray) for row in placement) else (len(placement),)


def _frame(name: str, which: str, value: Any) -> Frame:
    if value is None or isinstance(value, str):
        return Frame(value)
    if not isinstance(value, Frame):
        raise InputError(f"{which} of loop {name!r} must be a Frame, the name of a body or None, got {quoted(value)}")
    return value


def _no_lean(axis: np.ndarray) -> np.ndarray:
    """Rows that keep an axis of the second frame parallel to itself: no turns about e1 and e2."""
    e1, e2 = across(axis)
    forms = np.zeros((2, 4, 4))
    forms[0, :3, :3], forms[1, :3, :3] = -np.outer(axis, e2), np.outer(axis, e1)  # tr(R a e') = e' R a
    return forms


def _no_turn() -> np.ndarray:
    """Rows that keep the second frame from turning: the axial vector of R."""
    forms = np.zeros((3, 4, 4))
    for k, (i, j) in enumerate(((2, 1), (0, 2), (1, 0))):
        forms[k, j, i], forms[k, i, j] = 0.5, -0.5  # (R_ij - R_ji) / 2
    return forms


def _cosine(turns: np.ndarray, axis: np.ndarray | None) -> np.ndarray:
    """M of the cosine of a turn, (tr(R) - 1) / 2, or of the lean of an axis, a' R a; of 1 without rotation rows."""
    form = np.zeros((4, 4))
    if axis is not None:
        form[:3, :3] = np.outer(axis, axis)
    elif len(turns):
        form[range(4), range(4)] = 0.5, 0.5, 0.5, -0.5
    else:
        form[3, 3] = 1.0
    return form
