"""What is measured of a predicted step: curves over a stride, peaks, distances to measured walking, and errors.

A stride of the right side is the step, in which the right foot leads, and the left side of the step mirrored, which is
what the right side does in the next one. Forces are over body weight, load not included; percentages are of the stride.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import casadi as ca
import numpy as np

import colloc as co
from colloc.problem.constraints import Path, State
from colloc.transcription import Block, block_at, window
from studies.gait_norms import bands
from studies.walking import Sharing, Step
from studies.walking_rows import DOUBLE

SAMPLES = 201  # of the step
LOADED = 0.03  # of body weight: below, a foot has no centre of pressure worth drawing
STANDS = 0.1  # of body weight: a foot that carries it stands
FINER = 5  # points of the grid on which violations are measured, per interval between nodes
ANGLES = {"hip": "hip_flexion", "knee": "knee_flexion", "ankle": "ankle_dorsiflexion"}
DIRECTIONS = {"lateral": 0, "vertical": 1, "fore_aft": 2}  # lateral: to the left, which is medial for the right foot
COMPARED = ("hip", "knee", "ankle", "vertical", "fore_aft")


class Event(NamedTuple):
    """An extreme of a curve within a part of the stride [%]."""

    largest: bool
    start: float
    end: float


class Peak(NamedTuple):
    """An extreme value and its time [% of the stride]."""

    value: float
    percent: float


class Outside(NamedTuple):
    """Of where a foot may press: distance [mm] while it stands, and moment [% of body weight times 1 m]."""

    mm: float
    moment: float


class Moment(NamedTuple):
    """A time of the step in numbers, for what depends on nothing else."""

    t: float
    duration: float


# Event names are those of studies/data/gait_events.csv. The valley is sought between the two peaks.
EVENTS: Mapping[str, Event] = {
    "vertical.peak_1": Event(True, 0, 25),
    "vertical.peak_2": Event(True, 35, 62),
    "fore_aft.braking": Event(False, 0, 30),
    "fore_aft.propulsion": Event(True, 30, 62),
    "lateral.medial": Event(True, 5, 60),
    "hip.strike": Event(True, 0, 0),
    "hip.extension": Event(False, 30, 75),
    "hip.flexion": Event(True, 65, 100),
    "knee.strike": Event(True, 0, 0),
    "knee.loading": Event(True, 5, 25),
    "knee.stance": Event(False, 25, 50),
    "knee.swing": Event(True, 55, 95),
    "ankle.loading": Event(False, 0, 15),
    "ankle.stance": Event(True, 20, 58),
    "ankle.push_off": Event(False, 50, 75),
    "ankle_moment.push_off": Event(True, 30, 62),
    "ankle_power.push_off": Event(True, 35, 65),
}

# What the rows of a constraint measure, by its name: the first pattern that is found.
# Rows of "pressure" are measured by `Outside`, which also says by how many millimetres.
KINDS = (
    (r"^pressure [rl]", ""),
    (r"still|velocity|speed|slip", "velocity_m_per_s"),
    (r"tau bounds", "torque_percent_of_limit"),
    (r"friction|pressure|touch|hand over|leading|force|wrench|polygon|zmp", "force_percent_of_weight"),
    (r"arm.*leg|coupling", "other"),
    (r"knee|trunk|upright|angle", "angle_deg"),
    (r"heel|ball|toe|foot|above|clear|wrist|avoid", "position_mm"),
)
UNITS = {
    "position_mm": 1e3, "velocity_m_per_s": 1.0, "angle_deg": float(np.degrees(1)), "force_percent_of_weight": 100.0,
    "torque_percent_of_limit": 100.0, "other": 1.0,
}  # fmt: skip
PROMISED = {"position_mm": 2.0, "velocity_m_per_s": 0.02, "angle_deg": 0.5, "force_percent_of_weight": 1.0}


@dataclass(frozen=True, eq=False)
class Ground:
    """Ground reactions of the step at normalised times s, wrenches about the world's origin.

    Parameters
    ----------
    s : ndarray, shape (N,)
    right, left, whole : ndarray, shape (N, 6)
        Force over body weight, moment over body weight times 1 m.
    """

    s: np.ndarray
    right: np.ndarray
    left: np.ndarray
    whole: np.ndarray

    @staticmethod
    def pressure(wrench: np.ndarray) -> np.ndarray:
        """Centre of pressure (x, z) [m], shape (N, 2); NaN where hardly anything presses."""
        fy = np.where(wrench[:, 1] > LOADED, wrench[:, 1], np.nan)
        return np.column_stack([wrench[:, 5] / fy, -wrench[:, 3] / fy])


@dataclass(frozen=True, eq=False)
class Report:
    """A step and its solution, measured.

    Parameters
    ----------
    step : Step
    solution : Solution
    """

    step: Step
    solution: co.Solution

    @cached_property
    def percent(self) -> np.ndarray:
        """Of the stride, shape (2 SAMPLES - 1,)."""
        return np.linspace(0, 100, 2 * SAMPLES - 1)

    @cached_property
    def sample(self) -> co.Sample:
        """The motion of the step, finely."""
        return self.solution.at(self.ground.s * self.solution.duration)

    @cached_property
    def ground(self) -> Ground:
        """Ground reactions of the step."""
        return ground_reactions(self.step, self.solution, np.linspace(0, 1, SAMPLES))

    @cached_property
    def curves(self) -> dict[str, np.ndarray]:
        """Curves of the right side over a stride.

        hip, knee, ankle [deg]; vertical, fore_aft, lateral [body weight], lateral being medial; ankle_moment [N m/kg],
        ankle_power [W/kg].
        """
        found = {name: np.degrees(self._stride("q", joint)) for name, joint in ANGLES.items()}
        for name, axis in DIRECTIONS.items():
            sign = -1 if name == "lateral" else 1
            found[name] = np.append(self.ground.right[:, axis], sign * self.ground.left[1:, axis])
        moment = -self._stride("tau", ANGLES["ankle"]) / self.step.human.mass
        power = -moment * self._stride("qd", ANGLES["ankle"])
        return found | {"ankle_moment": moment, "ankle_power": power}

    @cached_property
    def internal(self) -> dict[str, np.ndarray]:
        """Norms of the internal forces of the right hip, knee and ankle over a stride [body weight]."""
        bodies = [body.name for body in self.solution.problem.model.bodies]
        found = self.solution.reactions(self.ground.s * self.solution.duration)
        norms = np.linalg.norm(found.force, axis=2) / self.step.weight
        right, left = ({k: norms[:, bodies.index(f"{joint}_{side}")] for k, joint in ANGLES.items()} for side in "rl")
        return {name: np.append(right[name], left[name][1:]) for name in ANGLES}

    @cached_property
    def peaks(self) -> dict[str, Peak]:
        """Extremes of the curves by name of the event."""
        found = {name: _peak(self.percent, self.curves[name.split(".")[0]], event) for name, event in EVENTS.items()}
        between = (found[f"vertical.peak_{k}"].percent for k in (1, 2))
        return found | {"vertical.valley": _peak(self.percent, self.curves["vertical"], Event(False, *between))}

    @cached_property
    def rms(self) -> dict[str, float]:
        """Distance of the curves from Winter's means [deg, body weight]."""
        return {name: bands()[name].rms(self.percent, self.curves[name]) for name in COMPARED}

    @cached_property
    def virtual_torque(self) -> float:
        """Largest torque of the joints that nothing drives, at the nodes and finely [body weight, times 1 m]."""
        virtual = [self.step.human.model.joint_names.index(name) for name in self.step.human.virtual]
        torques = np.vstack([self.solution.tau, self.sample.tau])[:, virtual]
        return float(np.abs(torques).max() / self.step.weight)

    @cached_property
    def wrench_sum_error(self) -> float:
        """Largest difference between the wrenches of both feet and the one that the motion needs [body weight]."""
        return float(np.abs(self.ground.right + self.ground.left - self.ground.whole).max())

    @cached_property
    def violations(self) -> dict[str, float]:
        """Largest violation of each kind over all named constraints, on a grid FINER than the nodes."""
        return {kind: amount for kind, (amount, _) in self.worst.items()}

    @cached_property
    def worst(self) -> dict[str, tuple[float, str]]:
        """Largest violation of each kind and the constraint's row."""
        found, kind = _violations(self.solution), "force_percent_of_weight"
        return found | {kind: max(found[kind], (self.outside.moment, "centre of pressure"))}

    @cached_property
    def outside(self) -> Outside:
        """How far the feet press outside of where they may, at worst."""
        return pressing_outside(self.step, self.ground)

    @cached_property
    def objectives(self) -> dict[str, float]:
        """The paper's objective at this motion, and the terms of the one that was minimised."""
        lower, upper = self.step.human.model.limits("torque")
        limited = np.isfinite(upper) & (upper > 0)
        largest = np.maximum(np.abs(lower), np.abs(upper))[limited]
        density = ((self.sample.tau[:, limited] / largest) ** 2).sum(axis=1)
        paper = ((density[1:] + density[:-1]) / 2 * np.diff(self.sample.t)).sum()
        return {"paper": float(paper), **self.solution.terms}

    @property
    def numbers(self) -> dict[str, float]:
        """All of it under flat names."""
        found = {"cost": self.solution.cost, "speed": self.step.speed, "step_length": self.step.length}
        found |= {f"objective.{name}": value for name, value in self.objectives.items()}
        for name, peak in self.peaks.items():
            found |= {f"peaks.{name}": peak.value, f"peaks.{name}.percent": peak.percent}
        found |= {f"peaks.internal.{name}": float(norm.max()) for name, norm in self.internal.items()}
        found |= {f"rms_vs_winter.{name}": value for name, value in self.rms.items()}
        found |= {"virtual_torque_max": self.virtual_torque, "wrench_sum_error": self.wrench_sum_error}
        found |= {f"violation.{kind}": amount for kind, amount in self.violations.items()}
        found |= {"violation.pressure_mm": self.outside.mm, "violation.pressure_moment_percent": self.outside.moment}
        found |= {"violation": self.solution.violation, "iterations.total": float(self.solution.iterations)}
        return found | {f"seconds.{name}": value for name, value in self.solution.seconds.items()}

    def _stride(self, quantity: str, joint: str) -> np.ndarray:
        values, names = getattr(self.sample, quantity), self.step.human.model.joint_names
        right, left = (values[:, names.index(f"{joint}_{side}")] for side in "rl")
        return np.append(right, left[1:])


def ground_reactions(step: Step, solution: co.Solution, s: np.ndarray) -> Ground:
    """Wrenches of both feet and of the whole at normalised times."""
    now = solution.problem.instant
    wrenches = [ca.vertcat(*wrench) for wrench in (step.right(now), step.left(now), now.support)]
    function = ca.Function("ground", now.inputs, wrenches)
    sites = solution.nlp.grid.anywhere(s)
    found = sites.evaluate(list(function(*sites.local.inputs)), solution.x, solution.parameters)
    return Ground(s, *(wrench / step.weight for wrench in found))


def pressing_outside(step: Step, ground: Ground) -> Outside:
    """How far centres of pressure are outside of where they may be."""
    far, moment = 0.0, 0.0
    for side, wrench in (("r", ground.right), ("l", ground.left)):
        places, pressing = Ground.pressure(wrench), wrench[:, 1]
        for k in np.flatnonzero(~np.isnan(places[:, 0])):
            if step.sharing is Sharing.DISTANCE and ground.s[k] <= DOUBLE + 1e-9:
                continue  # both feet press in one point between them
            corners = np.array(step.corners(Moment(ground.s[k] * step.duration, step.duration), side), dtype=float)
            beyond = float(np.maximum(corners.min(axis=0) - places[k], places[k] - corners.max(axis=0)).max())
            moment = max(moment, float(pressing[k]) * beyond)
            far = max(far, beyond) if pressing[k] > STANDS else far
    return Outside(1e3 * far, 100 * moment)


def _peak(percent: np.ndarray, values: np.ndarray, event: Event) -> Peak:
    inside = np.flatnonzero((percent >= event.start - 1e-9) & (percent <= event.end + 1e-9))
    best = inside[(values if event.largest else -values)[inside].argmax()]
    return Peak(float(values[best]), float(percent[best]))


def _violations(solution: co.Solution) -> dict[str, tuple[float, str]]:
    """Largest violation of each kind in its unit, and whose it is."""
    nlp = solution.nlp
    found: dict[str, tuple[float, str]] = {kind: (0.0, "") for kind in UNITS}
    nodes = nlp.grid.nodes().s.size
    fine = nlp.grid.anywhere(np.linspace(0, 1, FINER * (nodes - 1) + 1))
    for name, (constraint, rows, function) in nlp.problem.rows.items():
        if isinstance(constraint, Path):
            blocks = [block_at(name, window(nlp.grid, fine, constraint.during), rows, function)]
        elif isinstance(constraint, State):
            blocks = [block_at(name, nlp.grid.anywhere(np.array([constraint.s])), rows, function)]
        else:
            blocks = [block for block in nlp.constraints if block.name == name]
        for block in blocks:
            amounts = _outside(block, solution)
            for k, (label, amount) in enumerate(zip(block.labels, amounts, strict=True)):
                kind = _kind(name, label, k, solution.problem.model)
                if not kind:
                    continue
                size = float(block.upper[k] - block.lower[k]) / 2 if kind.startswith("torque") else 1.0
                value = float(amount) * UNITS[kind] / size
                if value > found[kind][0]:
                    found[kind] = (value, label)
    return found


def _outside(block: Block, solution: co.Solution) -> np.ndarray:
    """How far each row gets out of its bounds, shape (rows,)."""
    values = block.evaluate(solution.x, solution.parameters)
    outside = np.maximum(block.lower[:, None] - values, values - block.upper[:, None])
    return outside.clip(min=0).max(axis=1)


def _kind(name: str, label: str, row: int, model: co.Model) -> str:
    """What a row of a constraint measures."""
    if name == "symmetry":  # positions, and rates times the duration
        return "position_mm" if model.position_units[row % model.n] == "m" else "angle_deg"
    if name == "q bounds":
        joint = label[label.index("[") + 1 : -1]
        return "position_mm" if model.position_units[model.joint_names.index(joint)] == "m" else "angle_deg"
    return next((kind for pattern, kind in KINDS if re.search(pattern, name)), "other")
