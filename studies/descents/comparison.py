"""Descent methods side by side on one objective, for the studies of Lee, Kim, Park, Kim and Bobrow (2005)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

import colloc as co
from colloc.support.display import Table, short

METHODS: dict[str, Callable[[co.descent.Objective, np.ndarray, co.descent.Stop], co.descent.Descent]] = {
    "newton": co.descent.modified_newton,
    "bfgs": co.descent.bfgs,
    "steepest_descent": co.descent.steepest_descent,
    "ipopt": co.descent.interior_point,
}
PAPER = co.descent.Stop(gradient=1e-2, iterations=200)
TIGHT = co.descent.Stop(gradient=1e-7, iterations=200)


@dataclass(frozen=True)
class Published:
    """Printed figures of one method; a trailing + means that it was stopped before it converged."""

    iterations: str
    seconds: str


@dataclass(frozen=True)
class Comparison:
    """Runs of all methods from one start.

    Parameters
    ----------
    runs : dict of str to Descent
        Runs under the paper's stopping rule; the quickest of several each.
    tight : dict of str to Descent
        Runs under a stricter rule, of methods that converge.
    """

    runs: dict[str, co.descent.Descent]
    tight: dict[str, co.descent.Descent]

    @property
    def spread(self) -> float:
        """Largest difference between the optima that converging methods find, relative to the lowest."""
        values = [run.value for run in self.tight.values()]
        return (max(values) - min(values)) / abs(min(values))

    @property
    def numbers(self) -> dict[str, float]:
        """Figures for JSON: iterations, seconds, cost, gradient norm, and whether it converged, by method."""
        found: dict[str, float] = {}
        for name, run in self.runs.items():
            found |= {
                f"iterations.{name}": run.iterations,
                f"seconds.{name}": run.seconds,
                f"cost.{name}": run.value,
                f"gradient.{name}": float(run.history.gradient_norm[-1]),
                f"converged.{name}": float(run.success),
            }
        found |= {f"optimum.{name}": run.value for name, run in self.tight.items()}
        return found | {"cost.start": float(self.runs["newton"].history.value[0]), "optimum.spread": self.spread}

    def table(self, title: str, published: Mapping[str, Published]) -> str:
        """Our figures beside the paper's, as text."""
        header = ("", "iterations", "published", "ms", "published ms", "cost", "gradient norm", "optimum, tight", "")
        rows = []
        for name, run in self.runs.items():
            printed = published.get(name, Published("", ""))
            tight = f"{self.tight[name].value:.8f}" if name in self.tight else ""
            rows.append(
                (
                    run.method, str(run.iterations), printed.iterations, f"{1e3 * run.seconds:.2f}", printed.seconds,
                    f"{run.value:.6f}", short(float(run.history.gradient_norm[-1])), tight, str(run.status),
                )
            )  # fmt: skip
        note = f"  optima of converging methods differ by {self.spread:.1e} of the cost"
        return Table(title, header, rows, [note]).text()


def compare(objective: co.descent.Objective, x0: np.ndarray, repeats: int) -> Comparison:
    """Runs of all methods from one start, each several times."""
    runs, tight = {}, {}
    for name, method in METHODS.items():
        runs[name] = min((method(objective, x0, PAPER) for _ in range(repeats)), key=lambda run: run.seconds)
        strict = method(objective, x0, TIGHT)
        if strict.success:
            tight[name] = strict
    return Comparison(runs, tight)
