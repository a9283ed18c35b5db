"""Functions across the phases of a motion: what they see of a phase, and where they read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import NamedTuple

import casadi as ca

from colloc.problem.instant import SHARED, Instant, Slots
from colloc.problem.rows import Rows, bounded
from colloc.problem.unknowns import Unknown
from colloc.problem.user_functions import check_numbers
from colloc.support.checks import InputError, shortened, unknown_name


class PhaseEnds(NamedTuple):
    """What functions across phases see of one of them.

    Parameters
    ----------
    start, end : Instant
        The first and the last; times and durations are the phase's own.
    duration : SX, scalar [s]
    """

    start: Instant
    end: Instant
    duration: ca.SX

    def __getattr__(self, name: str) -> ca.SX:
        raise AttributeError(str(unknown_name("quantity of a phase's ends", name, self._fields)))


class NamedPhases(dict[str, PhaseEnds]):
    """Phases by name; InputError for another name."""

    def __missing__(self, name: object) -> PhaseEnds:
        raise unknown_name("phase", name, self)

    def __getattr__(self, name: str) -> PhaseEnds:
        phase = next(iter(self), "push")
        raise AttributeError(f"phases have no {name!r}: take one by name, as in phases[{phase!r}].end.q")


class Place(NamedTuple):
    """Where a function across phases reads: "start" or "end" of a phase, or "all along" what does not vary in it."""

    phase: str
    moment: str


class Across(NamedTuple):
    """A constraint or cost term across phases.

    Parameters
    ----------
    rows : Rows
        In the symbols of the phases' ends; without bounds for a cost.
    places : tuple of Place
    function : Function
        Of the slots at all places, one after another -> the rows.
    """

    rows: Rows
    places: tuple[Place, ...]
    function: ca.Function


def seen_places(ends: Mapping[str, PhaseEnds]) -> list[tuple[Place, Instant, set[int]]]:
    """All that a function can see, with its symbols: what varies along a phase, then what does not."""
    varying = [
        (Place(name, moment), now, _symbols(now, varying=True))
        for name, own in ends.items()
        for moment, now in (("start", own.start), ("end", own.end))
    ]
    return varying + [
        (Place(name, "all along"), own.start, _symbols(own.start, varying=False)) for name, own in ends.items()
    ]


def across(what: str, rows: Rows, seen_at: Sequence[tuple[Place, Instant, set[int]]]) -> Across:
    """Rows with the places that they need, of all there are; InputError for symbols that no phase has."""
    wanted = {symbol.element_hash() for symbol in ca.symvar(rows.expression)}
    places, inputs, seen = [], [], set()

    def take(place: Place, now: Instant) -> None:
        places.append(place)
        for slot in now.slots:
            symbols = []
            for symbol in ca.vertsplit(slot):
                known = symbol.element_hash() in seen
                seen.add(symbol.element_hash())
                symbols.append(ca.SX.sym("again") if known else symbol)
            inputs.append(ca.vertcat(ca.SX(0, 1), *symbols))

    for place, now, symbols in seen_at:
        if (wanted - seen if place.moment == "all along" else wanted) & symbols:
            take(place, now)
    function = ca.Function("across", inputs, [rows.expression], {"allow_free": True})
    if function.has_free():
        raise unknown_name(f"unknown or parameter (used by the {what})", shortened(function.get_free(), 5), [])
    check_numbers(what, function)
    if not places:
        raise InputError(f"{what} depends on no phase")
    return Across(rows, tuple(places), function)


def same_constants(constants: Mapping[str, Sequence[Unknown]], ends: Mapping[str, PhaseEnds]) -> dict[str, Across]:
    """Constants that several phases have, phase after phase the same.

    Parameters
    ----------
    constants : mapping of phase to its constants
    ends : mapping of phase to PhaseEnds
    """
    having: dict[Unknown, list[str]] = {}
    for name, own in constants.items():
        for constant in own:
            having.setdefault(constant, []).append(name)
    found = {}
    for constant, names in having.items():
        for pair in pairwise(names):
            inputs, values = [], []
            for name in pair:
                # Symbols of their own, as those of the constant are the same in both.
                slots = Slots(*(ca.SX.sym("own", slot.shape[0]) for slot in ends[name].start.slots))
                every = constants[name]
                first = sum(other.size for other in every[: every.index(constant)])
                values.append(slots.constants[first : first + constant.size])
                inputs += slots
            what = f"{constant.name} of {' and '.join(pair)}"
            rows = bounded(what, values[1] - values[0], 0.0, 0.0)
            function = ca.Function("kept", inputs, [rows.expression])
            found[what] = Across(rows, tuple(Place(name, "all along") for name in pair), function)
    return found


def _symbols(now: Instant, *, varying: bool) -> set[int]:
    """Those of an instant that vary along the phase, or the others."""
    slots = (slot for name, slot in zip(now.slots._fields, now.slots, strict=True) if (name in SHARED) != varying)
    return {symbol.element_hash() for slot in slots for symbol in ca.vertsplit(slot)}
