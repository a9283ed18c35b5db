"""A predicted stride beside measured walking, as a table: peaks, distances, and errors."""

from __future__ import annotations

import numpy as np

from colloc.studies.walking.report.errors import PROMISED
from colloc.studies.walking.report.norms import Fact, fact
from colloc.studies.walking.report.report import Report
from colloc.studies.walking.report.stride import DIRECTIONS
from colloc.studies.walking.step import Step
from colloc.support.display import Table

LABELS = {
    "vertical.peak_1": "vertical force, first peak [BW]",
    "vertical.valley": "vertical force, valley [BW]",
    "vertical.peak_2": "vertical force, second peak [BW]",
    "fore_aft.braking": "braking [BW]",
    "fore_aft.propulsion": "propulsion [BW]",
    "lateral.medial": "medial force [BW]",
    "hip.strike": "hip at strike [deg]",
    "hip.extension": "hip, extension [deg]",
    "hip.flexion": "hip, flexion in swing [deg]",
    "knee.strike": "knee at strike [deg]",
    "knee.loading": "knee, loading peak [deg]",
    "knee.stance": "knee, least flexion in stance [deg]",
    "knee.swing": "knee, swing peak [deg]",
    "ankle.loading": "ankle, plantarflexion on loading [deg]",
    "ankle.stance": "ankle, dorsiflexion in stance [deg]",
    "ankle.push_off": "ankle, push-off [deg]",
    "ankle_moment.push_off": "ankle moment, push-off [N m/kg]",
    "ankle_power.push_off": "ankle power, push-off [W/kg]",
}
OTHERS = (("Fukuchi 2018", "comfortable"), ("Bovi 2011", ""), ("Schwartz 2008", "free"), ("Falisse 2019", ""))


def comparison(report: Report) -> Table:
    """Peaks beside published ones, distances from Winter's curves, and errors."""
    rows = []
    for name, label in LABELS.items():
        ours, winter = report.peaks[name], fact(name, "Winter 1991")
        other = next((f for source, pace in OTHERS if (f := fact(name, source, pace))), None)
        off = f"{(ours.value - winter.value) / winter.sd:+.1f}" if winter else ""
        cells = (f"{ours.value:.3g}", f"{ours.percent:.0f}", _said(winter), off, _said(other))
        rows.append((label, *cells, other.source if other else ""))
    header = ("", "ours", "at %", "Winter 1991", "ours off, in SD", "another", "source")
    return Table(title(report.step), header, rows, notes(report))


def title(step: Step) -> str:
    """Title of a table."""
    return f"Walking at {step.speed:g} m/s, steps of {step.length:.3g} m, {step.human.mass:.3g} kg"


def notes(report: Report) -> list[str]:
    """Objectives, effort, errors, and differences from measured walking, in words."""
    rms = ", ".join(
        f"{name} {value:.2f}{' deg' if value > 1 or name in ('hip', 'knee', 'ankle') else ' BW'}"
        for name, value in report.rms.items()
    )
    beyond = ", ".join(
        f"{name} during {one.beyond:.0f} % of {'stance' if name in DIRECTIONS else 'the stride'}, "
        f"at worst {one.worst:+.1f} at {one.percent:.0f} %"
        for name, one in report.distances.items()
    )
    objectives = ", ".join(f"{name} {value:.5g}" for name, value in report.objectives.items())
    seconds = ", ".join(f"{name} {value:.2f}" for name, value in report.solution.seconds.items())
    return [
        f"  RMS distance from Winter's means: {rms}",
        f"  beyond two of his standard deviations: {beyond}",
        f"  objectives: {objectives}",
        f"  {report.solution.status}, {report.solution.iterations} iterations; seconds: {seconds}",
        f"  virtual torques {report.virtual_torque:.1e}, sum of feet against the whole {report.wrench_sum_error:.1e}",
        *_errors(report),
        *_differences(report),
        *_chosen(report),
    ]


def _errors(report: Report) -> list[str]:
    lines = []
    for kind, (amount, row) in report.worst.items():
        limit = PROMISED.get(kind)
        verdict = "" if limit is None or amount <= limit else f", more than {limit:g}"
        if amount > 0:
            lines.append(f"  largest violation, {kind.replace('_', ' ')}: {amount:.2g} ({row}){verdict}")
    far, moment = report.outside
    return [
        *lines,
        f"  centre of pressure outside by {far:.1f} mm, by a moment of {moment:.2f} % of body weight times 1 m",
    ]


def _differences(report: Report) -> list[str]:
    """Extremes further than two standard deviations from Winter's mean, or more than a tenth of the stride off."""
    values, times = [], []
    for name, ours in report.peaks.items():
        if winter := fact(name, "Winter 1991"):
            off = (ours.value - winter.value) / winter.sd
            if abs(off) > 2:
                values.append(f"{name} {off:+.1f}")
            if abs(ours.percent - winter.percent) > 10:
                times.append(f"{name} at {ours.percent:.0f} % instead of {winter.percent:.0f} %")
    return [
        f"  extremes unlike Winter's, in his standard deviations: {', '.join(values) or 'nothing beyond 2'}",
        f"  out of time: {', '.join(times) or 'nothing by more than 10 %'}",
    ]


def _chosen(report: Report) -> list[str]:
    """Angles at bounds of their ranges, and the reach of the centre of pressure."""
    bounds = (f"{name} at {bound:.0f} deg for {share:.0f} %" for name, (bound, share) in report.at_bounds.items())
    reach, ball, toe = (100 * float(place) for place in (report.pressure_reach, *report.step.sole))
    return [
        f"  at bounds of their ranges, of the step: {', '.join(bounds) or 'nothing for 1 %'}",
        f"  centre of pressure: {reach:.0f} cm before the heel at most, the ball at {ball:.0f}, the toe at {toe:.0f} "
        "(people's goes on below the great toe)",
    ]


def _said(published: Fact | None) -> str:
    if published is None:
        return ""
    time = "" if np.isnan(published.percent) else f" @ {published.percent:.0f}"
    return f"{published.value:.3g} ± {published.sd:.2g}{time}"
