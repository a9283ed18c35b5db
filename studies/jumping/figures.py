"""Figure and film of jumps: the jumper side by side, the ground's force, the height of the centre of mass."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from itertools import pairwise

import numpy as np
from matplotlib.axes import Axes

import colloc as co
from colloc.models.human.planar import with_ends
from colloc.models.human.stance import FORWARD, ROLL, VERTICAL
from colloc.plot.figure import new_figure
from colloc.plot.recording import ForceArrow
from colloc.plot.style import BLUE, FADE, INK, MUTED, ORANGE, PURPLE, dress, legend_below, styled
from colloc.studies.films import of_postures
from colloc.studies.jumping.phases import Jump
from colloc.studies.reporting import Film

BODY = ("toe", "heel", "ankle", "toe", "ankle", "knee", "hip", "shoulder", "head_top")
LOADED = 0.03  # of body weight: below, there is no centre of pressure worth drawing
ARM = ("shoulder", "elbow", "fingertip")  # lines of the stick figure


def draw_strip(ax: Axes, jump: Jump, solution: co.solution.PhasesSolution, times: np.ndarray) -> None:
    """The jumper side by side at some times."""
    for k, t in enumerate(times):
        for line in (BODY, ARM):
            places = solution.evaluate(
                lambda now, line=line: tuple(now.point(*jump.human.landmarks[name]).position for name in line), float(t)
            )
            y, z = np.array(places)[:, 1], np.array(places)[:, 2]
            ax.plot(0.75 * k + z, y, color=FADE(0.25 + 0.75 * k / (times.size - 1)), linewidth=2.2)
    ax.set_aspect("equal")
    ax.set_xticks(0.75 * np.arange(times.size), [f"{t:.2f} s" for t in times])
    dress(ax, "", "y [m]")
    ax.grid(False, axis="x")


@styled
def draw(found: Mapping[str, tuple[Jump, co.solution.PhasesSolution]], file: str) -> None:
    """The jumpers, the ground's force, and the height of the centre of mass beside a parabola."""
    figure = new_figure(figsize=(12.5, 5.2 + 3.4 * len(found)))
    *strips, bottom = figure.subfigures(len(found) + 1, 1, height_ratios=(*[1] * len(found), 1.2), squeeze=False)[:, 0]
    force, height = bottom.subplots(1, 2)
    for strip, (name, (jump, solution)), look in zip(strips, found.items(), ("-", "--"), strict=False):
        ends = [*solution.start_times.values(), solution.duration]
        push, toes, flight, landing = pairwise(ends)
        shown = ((push, 4), (toes, 3), (flight, 4), (landing, 2))
        inside = [np.linspace(begin, end, n, endpoint=False) for (begin, end), n in shown]
        ax = strip.subplots()
        draw_strip(ax, jump, solution, np.append(np.concatenate(inside), solution.duration))
        ax.set_title(name, loc="left", fontsize=10, color=MUTED)
        draw_force(force, name, jump, solution, look)
        draw_height(height, name, jump, solution, look)
    dress(force, "time [s]", "force of the ground over body weight")
    dress(height, "time [s]", "centre of mass, y [m]")
    legend_below(bottom, [*force.get_legend_handles_labels()[0], *height.get_legend_handles_labels()[0]])
    co.plot.save_figure(figure, file)


def draw_force(ax: Axes, name: str, jump: Jump, solution: co.solution.PhasesSolution, look: str) -> None:
    """The ground's force, upward and forward, over body weight."""
    t = np.linspace(0, solution.duration, 1500)
    tau = solution.at(t).tau / jump.weight
    for joint, direction, color in ((VERTICAL, "upward", BLUE), (FORWARD, "forward", ORANGE)):
        label = f"{direction}, {name}"
        ax.plot(t, tau[:, jump.joint(joint)], linestyle=look, linewidth=1.4, color=color, label=label)
    for moment in list(solution.start_times.values())[1:]:
        ax.axvline(moment, color=MUTED, linewidth=0.8, linestyle=":")


def draw_height(ax: Axes, name: str, jump: Jump, solution: co.solution.PhasesSolution, look: str) -> None:
    """The centre of mass, and the parabola of its flight."""
    t = np.linspace(0, solution.duration, 1500)
    y, speed = solution.evaluate(
        lambda now: (co.dynamics.center_of_mass(now.model, now.q)[1], jump.rising_speed(now)), t
    )
    label = f"centre of mass, {name}"
    ax.plot(t, y, color=PURPLE, linestyle=look, linewidth=3.0, alpha=0.5, label=label)
    off, touch = solution.start_times["flight"], solution.start_times["landing"]
    k = int(np.searchsorted(t, off, side="right"))
    fly = np.linspace(off, touch, 200) - t[k]
    g = jump.weight / jump.human.mass
    parabola = y[k] + speed[k] * fly - g / 2 * fly**2
    ax.plot(t[k] + fly, parabola, color=INK, linewidth=1.0, label="parabola" if look == "-" else None)


def seen_from_pelvis(jump: Jump, solution: co.solution.PhasesSolution, t: np.ndarray) -> np.ndarray:
    """Coordinates of the jumper on its pelvis, shape (N, n)."""
    q = solution.at(t).q
    joints = {name: q[:, jump.joint(name)] for name in jump.model.joint_names}
    hip = solution.evaluate(lambda now: now.point(*jump.human.landmarks["hip"]).position, t)
    forward, up, lean = jump.jumper.virtual
    joints |= {forward: hip[:, 2], up: hip[:, 1]}
    leg = joints["hip_flexion"] - joints["knee_flexion"] + joints["ankle_dorsiflexion"]
    joints[lean] = joints["stance_roll"] + leg
    return np.column_stack([joints[name] for name in jump.jumper.model.joint_names])


def pushes(jump: Jump, solution: co.solution.PhasesSolution, t: np.ndarray) -> list[ForceArrow]:
    """The ground's force at the centre of pressure, which is where it has no moment; nothing in flight."""
    tau = solution.at(t).tau
    upward, forward, moment = (tau[:, jump.joint(name)] for name in (VERTICAL, FORWARD, ROLL))
    presses = upward > LOADED * jump.weight
    place = solution.evaluate(lambda now: now.point(*jump.human.feet["both"].ball).position, t)
    place[:, 2] -= np.divide(moment, upward, out=np.zeros(t.size), where=presses)
    force = np.column_stack([0 * t, upward, forward])
    for rows in (place, force):
        rows[~presses] = np.nan
    return [ForceArrow("ground", "N", place, force)]


def film(jump: Jump, solution: co.solution.PhasesSolution) -> Film:
    """The jumper with head, hands and feet, in slow motion."""
    model = with_ends(jump.jumper, "heel", "toe", "head_top", "fingertip")
    postures, forces = partial(seen_from_pelvis, jump, solution), partial(pushes, jump, solution)
    return of_postures(model, postures, solution.duration, 2.0, forces)
