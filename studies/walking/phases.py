"""A step of walking as three phases that last as long as they like: double support, flat foot, heel rising.

The step of `studies.walking.problem` with everything that it asks for. Conditions during a part of its schedule, in
fractions of the step, hold during that part of the phase in which they lie, however long this lasts; forces, moments
and accelerations go on from phase to phase without a jump.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import pairwise
from typing import Any

import casadi as ca
import numpy as np

import colloc as co
from colloc.problem import Condition, Statement, TimePoint, Window
from colloc.studies.walking.contacts import contacts
from colloc.studies.walking.forces import Feet, share
from colloc.studies.walking.posture import posture, symmetry
from colloc.studies.walking.problem import calm, effort, uneven
from colloc.studies.walking.step import DOUBLE, FLAT_UNTIL, Step

SCHEDULE = {"double support": (0.0, DOUBLE), "flat foot": (DOUBLE, FLAT_UNTIL), "heel rising": (FLAT_UNTIL, 1.0)}
BOTH, LAST = "double support", "heel rising"
SHORTEST, LONGEST = 0.02, 0.9  # of the step's duration, of any phase


@dataclass(frozen=True)
class Part:
    """A part of the step's schedule, and the phase that it is.

    Parameters
    ----------
    step : Step
    start, end : float
        Fractions of the step in its schedule.
    """

    step: Step
    start: float
    end: float

    def scheduled(self, now: co.problem.Instant) -> co.problem.Instant:
        """The instant at the time of the schedule that it stands for."""
        s = self.start + (self.end - self.start) * now.t / now.duration
        return replace(now, t=s * self.step.duration, duration=ca.SX(self.step.duration))

    def fraction(self, s: float) -> float:
        """Fraction of the phase for one of the step, no further than its ends."""
        return float(np.clip((s - self.start) / (self.end - self.start), 0.0, 1.0))

    def own(self, stated: Sequence[Statement]) -> list[Statement]:
        """Requirements of this part."""
        found = []
        for item in stated:
            where = item.where
            if isinstance(where, TimePoint):
                if self.start < where.s <= self.end or where.s == self.start == 0:
                    found.append(self._moved(item, TimePoint(self.fraction(where.s))))
            elif isinstance(where, Window):
                moved = Window(self.fraction(where.start), self.fraction(where.end))
                if moved.start < moved.end:
                    found.append(self._moved(item, moved))
        return found

    def _moved(self, item: Statement, where: TimePoint | Window) -> Statement:
        if not isinstance(item, Condition):
            return replace(item, where=where)
        return replace(item, where=where, fn=lambda now: item.fn(self.scheduled(now)))


@dataclass(frozen=True, eq=False)
class ScheduledFeet(co.problem.Part):
    """Feet on the ground in a part of the schedule."""

    feet: Feet
    part: Part
    both: bool  # whether both feet are on the ground
    name: str = "ground"

    def contribution(self) -> co.problem.Contribution:
        """The feet's contribution to the step, restricted to the rows of this problem."""
        whole, step = self.feet.contribution(), self.part.step
        statements = self.part.own(whole.statements)
        if not self.both:
            return co.problem.Contribution(statements=statements)
        foot = step.stance.feet["l"].ball.body
        load = co.problem.ground.applied(foot, (0, 0, 0), lambda now: share(step, now))
        return co.problem.Contribution(unknowns=whole.unknowns, loads=[load], statements=statements)


@dataclass(frozen=True, eq=False)
class PhasedStep:
    """A step whose phases last as long as they like.

    Parameters
    ----------
    step : Step
        Its wrench of the trailing foot is a free one.
    lag : float [s]
        Time T by which torques lag behind what excites them, e = tau + T dtau/dt: what costs is e in place of tau.
    shares : tuple of three floats
        Phases' shares of the step where the search for their durations begins.
    """

    step: Step
    lag: float = 0.0
    shares: tuple[float, float, float] = (0.2, 0.4, 0.4)

    @cached_property
    def parts(self) -> dict[str, Part]:
        """The phases' parts of the schedule."""
        return {name: Part(self.step, *ends) for name, ends in SCHEDULE.items()}

    @cached_property
    def sequence(self) -> co.Phases:
        """The whole step, as long as its length asks for at its speed."""
        stated, feet = [*contacts(self.step), *posture(self.step)], Feet(self.step)
        phases = {name: self._phase(name, self._cost(name), stated, feet) for name in self.parts}
        return self._joined(phases)

    @cached_property
    def motion_only(self) -> co.Phases:
        """The same without forces, a start for the search as in `studies.walking.problem.motion_only`."""

        def ease(T: float, now: co.problem.Instant) -> ca.SX:
            return ca.sumsqr(now.q) + 0.1 * ca.sumsqr(T * now.qd) + 1e-3 * ca.sumsqr(T**2 * now.qdd)

        cost = co.integral(partial(ease, self.step.duration), name="ease")
        stated = [*contacts(self.step), *posture(self.step)]
        phases = {
            name: co.Problem(self.step.stance.strengthless.model, self._span(name), cost, part.own(stated))
            for name, part in self.parts.items()
        }
        return self._joined(phases, seamless=False)

    def _phase(self, name: str, cost: co.problem.Cost, stated: Sequence[Statement], feet: Feet) -> co.Problem:
        part = self.parts[name]
        return co.Problem(
            self.step.stance.model,
            self._span(name),
            cost,
            part.own(stated),
            parts=[ScheduledFeet(feet, part, name == BOTH)],
        )

    def _span(self, name: str) -> co.Free:
        T, share = self.step.duration, self.shares[list(SCHEDULE).index(name)]
        return co.Free(SHORTEST * T, LONGEST * T, share * T)

    def _cost(self, name: str) -> co.problem.Cost:
        step, part = self.step, self.parts[name]

        def regularisation(now: co.problem.Instant) -> ca.SX:
            value = calm(step, now)
            return value if name != BOTH else value + step.even * ca.sumsqr(uneven(step, part.scheduled(now)))

        return co.integral(lambda now: effort(step, now, self.lag), name="effort") + co.integral(
            regularisation, name="regularisation"
        )

    def _joined(self, phases: Mapping[str, co.Problem], *, seamless: bool | None = None) -> co.Phases:
        """Phases in a row, the last of which ends as the mirror image of how the first begins."""
        ends = symmetry(self.step, seamless=seamless)

        def difference(phases: Mapping[str, Any]) -> ca.SX:
            return ends.fn(phases[BOTH].start, phases[LAST].end)

        names = list(phases)
        links = [co.connect(a, b, qdd=True) for a, b in pairwise(names)]
        return co.Phases(phases, [replace(ends, fn=difference), *links], duration=self.step.duration)
