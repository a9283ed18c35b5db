"""The viewer of a problem, which shows iterates during a solve."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from colloc.muscles import Muscles
from colloc.plot.recording import Recording, solution_recording
from colloc.plot.sampling import one_by_one
from colloc.plot.viewer import Viewer, viewer
from colloc.refinement import Iteration
from colloc.solution import PhasesSolution, Solution
from colloc.support.display import short
from colloc.support.progress import in_notebook

_KEPT = 24  # largest number of iterates in a page
_TIMES = 41  # samples of each
_PAUSE = 1.0  # s, least time between two pages
_LEAST, _SHARE = (
    0.3,
    0.03,
)  # s, and fraction of the time of a solve, that pages may take; twice with the last
_FEW = 4  # least number of iterates in it


class LiveViewer(Viewer):
    """The viewer of a problem, updated during a solve: ``co.solve(problem, progress=co.plot.view(problem))``.

    In a notebook the page is shown below the cell. Otherwise it is a file that reloads itself until the solve ends: the
    file to which it was saved last, or a temporary one whose address is written to standard error. It has a slider
    through the iterates shown so far, and at the end through up to twenty-four evenly spaced ones, the last iterate and
    the solution. After the first second, pages take 3 % of the time of a solve plus 0.3 s, and the last page about as
    much again; it has fewer iterates if the mechanism takes long to draw.

    Parameters
    ----------
    guess : sequence of Recording
        The motion shown before the solve, or one for each case.
    title : str
    slow : float, optional
        Ratio of the durations of playback and motion.
    muscles : Muscles, optional
        Drawn in all iterates.

    Examples
    --------
    >>> viewer = co.plot.view(problem)
    >>> viewer.save("iterates.html").name
    'iterates.html'
    >>> solution = co.solve(problem, co.BSpline(10), progress=viewer)
    >>> len(Path("iterates.html").read_text()) == len(viewer.page)
    True
    """

    _allowed: ClassVar[str] = "allow-scripts allow-same-origin"  # gives access to the memory of the tab

    def __init__(
        self, guess: Sequence[Recording], title: str, slow: float | None = None, muscles: Muscles | None = None
    ):
        super().__init__(viewer(guess, title, slow).page, title)
        self._slow, self._muscles = slow, muscles
        self._key = f"colloc {uuid4()}"
        self._file: Path | None = None
        self._display: Any = None
        self._begin()

    def _begin(self) -> None:
        self._kept: list[Iteration] = []
        self._drawings: dict[Iteration, list[Recording]] = {}
        self._last: Iteration | None = None
        self._seen, self._stride, self._over = 0, 1, False
        self._start, self._next, self._spent = 0.0, 0.0, 0.0  # s

    def save(self, path: str | os.PathLike[str]) -> Path:
        self._file = super().save(path)
        return self._file

    def __call__(self, now: Iteration) -> None:
        """Add an iteration of a solve."""
        if self._over:
            self._begin()
        if not np.isfinite(now.x).all():
            return
        if self._last is None:
            self._start = time.perf_counter()
            self._next = self._start + _PAUSE
        self._last = now
        if self._seen % self._stride == 0:
            self._kept.append(now)
            if len(self._kept) > _KEPT:
                self._thin()
        self._seen += 1
        begin = time.perf_counter()
        if begin > self._next:
            self._drawn(now)
            shown = [part for kept in self._kept for part in self._drawings.get(kept, [])]
            self._show([*shown, *self._tail()], live=True)
            end = time.perf_counter()
            self._spent += end - begin
            self._next = max(end + _PAUSE, self._start + (self._spent - _LEAST) / _SHARE)

    def finish(self, answer: Solution | PhasesSolution | None) -> None:
        """End the page, with the solution if there is one."""
        if self._over:  # without an iteration
            self._begin()
        self._over = True
        recordings = [*(part for now in self._affordable() for part in self._drawn(now)), *self._tail()]
        if answer is not None:
            named = zip(*one_by_one([answer], None), strict=True)
            recordings += [
                solution_recording(one, _named("end", answer, name), muscles=self._muscles) for one, name in named
            ]
        if recordings:
            self._show(recordings, live=False)

    def _thin(self) -> None:
        """Keep every other iterate, of those so far and from now on."""
        del self._kept[1::2]
        self._stride *= 2
        self._drawings = {now: self._drawings[now] for now in self._kept if now in self._drawings}

    def _affordable(self) -> list[Iteration]:
        """Kept iterates, as many as can be drawn in a small fraction of the time of the solve."""
        budget = max(_LEAST, _SHARE * (time.perf_counter() - self._start))
        each = min(map(self._seconds, self._kept[:2]), default=0.0)  # the first may include the construction of symbols
        while len(self._kept) > _FEW and each * sum(now not in self._drawings for now in self._kept) > budget:
            self._thin()
        return self._kept

    def _seconds(self, now: Iteration) -> float:
        """Time to draw an iterate [s]."""
        begin = time.perf_counter()
        self._drawings.pop(now, None)
        self._drawn(now)
        return time.perf_counter() - begin

    def _tail(self) -> list[Recording]:
        """The last iterate, unless it is among the kept ones."""
        return [] if self._last is None or self._last in self._kept else self._drawn(self._last)

    def _drawn(self, now: Iteration) -> list[Recording]:
        """An iterate, or its cases one by one."""
        if now not in self._drawings:
            words = f"cost {short(now.cost)}, infeasibility {now.infeasibility:.1e}"
            self._drawings[now] = [
                solution_recording(
                    one, _named(_name(now), now.solution, name), muscles=self._muscles,
                    times=np.linspace(0.0, one.duration, _TIMES), detail=words,
                )
                for one, name in zip(*one_by_one([now.solution], None), strict=True)
            ]  # fmt: skip
        return self._drawings[now]

    def _show(self, recordings: list[Recording], *, live: bool) -> None:
        """Show the page of some iterates."""
        self.page = viewer(recordings, self.title, self._slow, series=True, live=live, key=self._key).page
        if self._file is not None:
            super().save(self._file)
        elif not in_notebook():
            file = self.save(Path(tempfile.mkdtemp(prefix="colloc-")) / "iterates.html")
            print(f"colloc: the iterates are shown at {file.as_uri()}", file=sys.stderr, flush=True)
        if in_notebook():
            self._display_again()

    def _display_again(self) -> None:
        from IPython.display import display  # there, in a notebook  # pyright: ignore[reportMissingImports]

        if self._display is None:
            self._display = display(self, display_id=True)
        else:
            self._display.update(self)


def _name(now: Iteration) -> str:
    return f"iterate {now.number}" if now.round == 1 else f"round {now.round}, iterate {now.number}"


def _named(name: str, solution: Solution | PhasesSolution, case: str) -> str:
    """A name with that of a case."""
    return name if solution.problem.in_sequence else f"{name}, {case}"
