"""Companion files of URDFs, in YAML or JSON: loops as pairs of frames, motors, and joints of other kinds."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Container, Mapping
from dataclasses import dataclass, field
from typing import Any

from colloc.formats.reading import Notes
from colloc.loops import Frame, Loop, spherical_loop, weld
from colloc.support.checks import InputError, quoted, unknown_name, warn
from colloc.support.files import read_whole, refused

_LARGEST = 10_000_000  # bytes
_TIES = {"6d": weld, "3d": spherical_loop}
_UNIVERSAL = tuple(f"UJOINT_{a}{b}" for a in "XYZ" for b in "XYZ" if a != b)
_KINDS = ("SPHERICAL", "FIXED", *_UNIVERSAL)
_LISTS = ("closed_loop", "type", "name_mot", "joint_name", "joint_type")


@dataclass(frozen=True)
class Companion:
    """The content of a companion file.

    Parameters
    ----------
    pairs : tuple of (str, str, str)
        Two frames that a loop ties, by names of links or joints, and how: "6d" or "3d".
    motors : tuple of str
        Joints.
    kinds : mapping of str to str
        Joints of another kind than in the URDF: "SPHERICAL", "FIXED" or, with two axes, such as "UJOINT_XY".
    """

    pairs: tuple[tuple[str, str, str], ...] = ()
    motors: tuple[str, ...] = ()
    kinds: Mapping[str, str] = field(default_factory=dict)

    def check(self, joints: Container[str]) -> None:
        """Warn of joints of another kind that the robot does not have."""
        if missing := [name for name in self.kinds if name not in joints]:
            warn(f"loops: joint_name lists joints that the robot does not have: {', '.join(map(repr, missing))}")

    def loops(self, links: Container[str], children: Mapping[str, str]) -> tuple[Loop, ...]:
        """The loops of a robot with some links; `children` are the links that joints carry, by the joints' names.

        InputError for a frame that is neither a link nor a joint.
        """
        found: list[Loop] = []
        for k, (first, second, tie) in enumerate(self.pairs):
            bodies = [name if name in links else children.get(name, "") for name in (first, second)]
            for name, body in zip((first, second), bodies, strict=True):
                if not body:
                    raise unknown_name(f"frame (of closed_loop[{k}])", name, children.values())
            found.append(_TIES[tie](f"{first} to {second}", *map(Frame, bodies)))
        return tuple(found)

    def driven(self, moving: Container[str], joints: Collection[str], notes: Notes) -> tuple[str, ...]:
        """The motors at joints that move; InputError for one at no joint of the robot."""
        for name in self.motors:
            if name not in joints:
                raise unknown_name("joint (in name_mot)", name, joints)
            if name not in moving:
                notes.leave_out("motor", "joints that are fixed, are held or follow others", name)
        return tuple(name for name in self.motors if name in moving)


def read_companion(path: str | os.PathLike[str]) -> Companion:
    """The companion of a robot's file, see `Companion`; InputError for other content."""
    content = _content(path)
    if not isinstance(content, dict):
        raise InputError(f"{str(path)!r} must map names such as 'closed_loop' to lists, got {quoted(content)}")
    with refused(path, "is no companion of a URDF"):
        lists = {name: _list(name, content.get(name)) for name in _LISTS}
        ties = [str(tie).lower() for tie in lists["type"]] or ["6d"] * len(lists["closed_loop"])
        if unknown := [tie for tie in ties if tie not in _TIES]:
            raise InputError(f"type of a loop must be '6d' (welded) or '3d' (a ball joint), got {unknown[0]!r}")
        _same_length("type", ties, "closed_loop", lists["closed_loop"])
        _same_length("joint_type", lists["joint_type"], "joint_name", lists["joint_name"])
        pairs = [_pair(k, pair) for k, pair in enumerate(lists["closed_loop"])]
        kinds = dict(zip(map(str, lists["joint_name"]), map(str, lists["joint_type"]), strict=True))
        for name, kind in kinds.items():
            if kind not in _KINDS:
                raise InputError(
                    f"joint_type of {name!r} must be 'SPHERICAL', 'FIXED' or such as 'UJOINT_XY', got {kind!r}"
                )
        tied = tuple((first, second, tie) for (first, second), tie in zip(pairs, ties, strict=True))
        return Companion(tied, tuple(dict.fromkeys(map(str, lists["name_mot"]))), kinds)


def _content(path: str | os.PathLike[str]) -> Any:
    raw = read_whole(path, "companion of a URDF", _LARGEST)
    try:
        return json.loads(raw)
    except (ValueError, RecursionError):
        pass
    try:
        import yaml
    except ImportError:
        raise InputError(
            f"{str(path)!r} is no JSON, and YAML needs the package PyYAML, which is not installed: "
            "pip install 'colloc[yaml]'"
        ) from None
    with refused(path, "cannot be read as YAML"):
        return yaml.safe_load(raw)


def _list(name: str, value: Any) -> list[Any]:
    if not isinstance(value, list | None):
        raise InputError(f"{name} must be a list, got {quoted(value)}")
    return value or []


def _pair(k: int, pair: Any) -> tuple[str, str]:
    if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(name, str) for name in pair)):
        raise InputError(f"closed_loop[{k}] must be the names of two frames, got {quoted(pair)}")
    return pair[0], pair[1]


def _same_length(name: str, values: list[Any], of: str, others: list[Any]) -> None:
    if len(values) != len(others):
        raise InputError(f"{name} must have one entry for each of {of}, {len(others)}, got {len(values)}")
