"""Measures of a predicted step: curves over a stride, peaks, distances from measured walking, and errors.

A stride of the right side is the step, in which the right foot leads, and the left side of the step mirrored, which is
what the right side does in the next one. Forces are over body weight, load not included; percentages are of the stride.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import casadi as ca
import numpy as np

import colloc as co
from colloc.studies.walking.posture import ahead, swing
from colloc.studies.walking.report.errors import FINER, Outside, Stray, pressing_outside, straying, violations
from colloc.studies.walking.report.ground import Ground, ground_reactions, pelvis_torques
from colloc.studies.walking.report.stride import ANGLES, DIRECTIONS, Distance, Peak, Stride
from colloc.studies.walking.step import Step

SAMPLES = 201  # times of a step
_AT_BOUND = 1e-2  # of its range: a joint that is nearer is at its bound


@dataclass(frozen=True, eq=False)
class Report:
    """A solved step and its measures.

    Parameters
    ----------
    step : Step
    solution : Solution
    first : Solution, optional
        Motion of a first stage that the search started from, if there was one.
    """

    step: Step
    solution: co.Solution
    first: co.Solution | None = None

    @property
    def found(self) -> bool:
        """Whether the step is an optimum that keeps to its bounds, simulated or not."""
        outcome = self.solution.outcome
        return outcome.status is co.solver.Status.SOLVED and self.solution.violation <= outcome.tolerance

    @cached_property
    def percent(self) -> np.ndarray:
        """Times of the curves [% of the stride], shape (2 SAMPLES - 1,)."""
        return np.linspace(0, 100, 2 * SAMPLES - 1)

    @cached_property
    def sample(self) -> co.solution.Sample:
        """Motion of the step at `SAMPLES` times."""
        return self.solution.at(self.ground.s * self.solution.duration)

    @cached_property
    def ground(self) -> Ground:
        """Ground reactions of the step at `SAMPLES` times."""
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
    def stride(self) -> Stride:
        """The curves and their extremes."""
        return Stride(self.percent, self.curves)

    @cached_property
    def peaks(self) -> dict[str, Peak]:
        """Extremes of the curves by name of the event."""
        return self.stride.peaks

    @cached_property
    def rms(self) -> dict[str, float]:
        """Distance of the curves from Winter's means [deg, body weight]."""
        return self.stride.rms

    @property
    def distances(self) -> dict[str, Distance]:
        """Distance of the curves from Winter's, all along."""
        return self.stride.distances

    @cached_property
    def virtual_torque(self) -> float:
        """Largest torque of the joints that nothing drives [body weight, times 1 m]."""
        return max(float(np.abs(self._on_pelvis[name]).max()) for name in self.step.human.virtual) / self.step.weight

    @cached_property
    def torque_difference(self) -> float:
        """Largest difference between torques seen from the pelvis and from the foot [body weight times 1 m]."""
        ours = dict(zip(self.step.stance.model.joint_names, self.solution.at(self._checked).tau.T, strict=True))
        shared = [name for name in ours if name in self._on_pelvis]
        return max(float(np.abs(ours[name] - self._on_pelvis[name]).max()) for name in shared) / self.step.weight

    @cached_property
    def _checked(self) -> np.ndarray:
        """Times at which torques are what the motion needs: any of a spline, nodes of a mesh but its first."""
        nodes = self.solution.t
        return np.append(nodes, self.sample.t) if isinstance(self.solution.nlp.curve, co.BSpline) else nodes[1:]

    @cached_property
    def _on_pelvis(self) -> dict[str, np.ndarray]:
        """Torques of the skeleton that its pelvis carries, by joint, each shape (N,)."""
        return pelvis_torques(self.step, self.solution, self._checked / self.solution.duration)

    @cached_property
    def wrench_sum_error(self) -> float:
        """Largest difference between the wrenches of both feet and the one that the motion needs [body weight]."""
        return float(np.abs(self.ground.right + self.ground.left - self.ground.whole).max())

    @cached_property
    def both_feet(self) -> tuple[float, float]:
        """Largest vertical force of both feet together [body weight], and when [% of the stride]."""
        force = self.ground.whole[:, 1]
        return float(force.max()), 50.0 * float(self.ground.s[force.argmax()])

    @cached_property
    def at_bounds(self) -> dict[str, tuple[float, float]]:
        """By joint, the bound at which it stays for 1 % of the step or longer [deg], and how long [%]."""
        problem = self.solution.problem
        found = {}
        for name, values, *ends in zip(
            problem.model.position_names, self.sample.q.T, *problem.limits("q"), strict=True
        ):
            width = ends[1] - ends[0]
            for bound in ends if 0 < width < np.inf else ():
                share = 100 * float((np.abs(values - bound) < _AT_BOUND * width).mean())
                if share >= 1.0:
                    found[name] = float(np.degrees(bound)), share
        return found

    @cached_property
    def pressure_reach(self) -> float:
        """Largest distance of a foot's centre of pressure before its heel, on either foot [m]."""
        right, left = (self.ground.pressure(wrench)[:, 1] for wrench in (self.ground.right, self.ground.left))
        return float(np.nanmax([right, left + self.step.length]))

    @cached_property
    def arm_leg(self) -> np.ndarray:
        """Reach of either arm times that of the opposite leg (5.6), shape (SAMPLES, 2) [m2]."""
        human, t = self.step.stance, self.ground.s * self.solution.duration
        return self.solution.evaluate(lambda now: ca.vertcat(*(swing(human, now, arm) for arm in "lr")), t)

    @cached_property
    def arm_reach(self) -> float:
        """Largest distance of a wrist before or behind its shoulder [m]."""
        human, t = self.step.stance, self.ground.s * self.solution.duration
        both = self.solution.evaluate(
            lambda now: ca.vertcat(*(ahead(human, now, f"wrist_{k}", f"shoulder_{k}") for k in "lr")), t
        )
        return float(np.abs(both).max())

    @cached_property
    def worst(self) -> dict[str, tuple[float, str]]:
        """Largest violation of each kind and the constraint's row, on a grid FINER than the nodes.

        Feet that stand are measured against their places, whatever band the problem allows.
        """
        found = violations(self.solution)
        mine = (
            ("position_mm", self.stray.mm, "feet in their places"),
            ("velocity_m_per_s", self.stray.speed, "feet that stand"),
            ("force_percent_of_weight", self.outside.moment, "centre of pressure"),
        )
        return found | {kind: max(found[kind], (amount, row)) for kind, amount, row in mine}

    @cached_property
    def stray(self) -> Stray:
        """Movement of the feet that should stand."""
        return straying(self.step, self.solution, np.linspace(0, 1, FINER * (self.solution.t.size - 1) + 1))

    @cached_property
    def outside(self) -> Outside:
        """Largest excess of the centres of pressure beyond where they may be."""
        return pressing_outside(self.step, self.ground)

    @cached_property
    def objectives(self) -> dict[str, float]:
        """The paper's objective at this motion, and the terms of the one that was minimised."""
        lower, upper = self.step.stance.model.limits("torque")
        limited = np.isfinite(upper) & (upper > 0)
        largest = np.maximum(np.abs(lower), np.abs(upper))[limited]
        density = ((self.sample.tau[:, limited] / largest) ** 2).sum(axis=1)
        paper = ((density[1:] + density[:-1]) / 2 * np.diff(self.sample.t)).sum()
        return {"paper": float(paper), **self.solution.terms}

    @property
    def numbers(self) -> dict[str, float]:
        """Everything measured, under flat names."""
        found = {"cost": self.solution.cost, "speed": self.step.speed, "step_length": self.step.length}
        found |= {f"objective.{name}": value for name, value in self.objectives.items()}
        for name, peak in self.peaks.items():
            found |= {f"peaks.{name}": peak.value, f"peaks.{name}.percent": peak.percent}
        found |= dict(zip(("both_feet.most", "both_feet.percent"), self.both_feet, strict=True))
        found |= {f"at_bound.{name}.percent": share for name, (_, share) in self.at_bounds.items()}
        found["pressure_reach"] = self.pressure_reach
        found |= {f"peaks.internal.{name}": float(norm.max()) for name, norm in self.internal.items()}
        found |= {f"rms_vs_winter.{name}": value for name, value in self.rms.items()} | self.stride.distance_numbers
        found |= {
            "virtual_torque_max": self.virtual_torque,
            "torque_difference": self.torque_difference,
            "wrench_sum_error": self.wrench_sum_error,
        }
        found |= {f"violation.{kind}": amount for kind, (amount, _) in self.worst.items()}
        found |= {"violation.pressure_mm": self.outside.mm, "violation.pressure_moment_percent": self.outside.moment}
        found |= {"violation": self.solution.violation, "iterations.total": float(self.solution.iterations)}
        if not self.step.planar:
            found |= {"arm_leg.least": float(self.arm_leg.min()), "arm_leg.negative": float((self.arm_leg < 0).mean())}
            found["arm_reach"] = self.arm_reach
        if self.first is not None:
            found |= {f"seconds.first_stage.{name}": value for name, value in self.first.seconds.items()}
            found["iterations.first_stage"] = float(self.first.iterations)
        return found | {f"seconds.{name}": value for name, value in self.solution.seconds.items()}

    def _stride(self, quantity: str, joint: str) -> np.ndarray:
        values, names = getattr(self.sample, quantity), self.step.stance.model.joint_names
        right, left = (values[:, names.index(f"{joint}_{side}")] for side in "rl")
        return np.append(right, left[1:])
