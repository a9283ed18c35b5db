"""The viewer of a problem, in which iterates of a solve are seen as it goes on."""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, ClassVar
from uuid import uuid4

import numpy as np

from colloc.muscles import Muscles
from colloc.plot.recording import Recording, solution_recording
from colloc.plot.viewer import Viewer, viewer
from colloc.refinement import Iteration
from colloc.solution import PhasesSolution, Solution
from colloc.support.display import short
from colloc.support.progress import in_notebook

_KEPT = 24  # iterates in a page at most
_TIMES = 41  # of each
_PAUSE = 1.0  # s between two pages, at least
_LEAST, _SHARE = 0.3, 0.03  # s, and of the time of a solve beyond, that pages may take; once more so for the last one
_FEW = 4  # iterates in it at least


class LiveViewer(Viewer):
    """The viewer of a problem, which a solve keeps up to date: ``co.solve(problem, progress=co.plot.view(problem))``.

    In a notebook the page is shown below the cell. Anywhere else it is a file, which loads itself again until the solve
    is over: the one to which it was saved last, else a temporary one whose address is written to standard error. It has
    a slider through the iterates that it has shown, and in the end through up to twenty-four, equally far apart, the
    last one and the answer. Pages take three hundredths of the time of a solve and 0.3 s, after the first second, and
    about as much again the last one, which has fewer iterates where the mechanism takes long to draw.

    Parameters
    ----------
    guess : Recording
        The motion that is played before anything is solved.
    title : str
    slow : float, optional
        Duration of the play over that of the motion.
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

    _allowed: ClassVar[str] = "allow-scripts allow-same-origin"  # which has the memory of the tab

    def __init__(self, guess: Recording, title: str, slow: float | None = None, muscles: Muscles | None = None):
        super().__init__(viewer([guess], title, slow).page, title)
        self._slow, self._muscles = slow, muscles
        self._key = f"colloc {uuid4()}"
        self._file: Path | None = None
        self._display: Any = None
        self._begin()

    def _begin(self) -> None:
        self._kept: list[Iteration] = []
        self._drawings: dict[Iteration, Recording] = {}
        self._last: Iteration | None = None
        self._seen, self._stride, self._over = 0, 1, False
        self._start, self._next, self._spent = 0.0, 0.0, 0.0  # s

    def save(self, path: str | os.PathLike[str]) -> Path:
        self._file = super().save(path)
        return self._file

    def __call__(self, now: Iteration) -> None:
        """One iteration of a solve."""
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
            shown = [self._drawings[kept] for kept in self._kept if kept in self._drawings]
            self._show([*shown, *self._tail()], live=True)
            end = time.perf_counter()
            self._spent += end - begin
            self._next = max(end + _PAUSE, self._start + (self._spent - _LEAST) / _SHARE)

    def finish(self, answer: Solution | PhasesSolution | None) -> None:
        """The end of a solve, with its answer if it has one."""
        if self._over:  # without an iteration
            self._begin()
        self._over = True
        recordings = [*map(self._drawn, self._affordable()), *self._tail()]
        if answer is not None:
            recordings.append(solution_recording(answer, "end", muscles=self._muscles))
        if recordings:
            self._show(recordings, live=False)

    def _thin(self) -> None:
        """Every other iterate from here on, and of those before."""
        del self._kept[1::2]
        self._stride *= 2
        self._drawings = {now: self._drawings[now] for now in self._kept if now in self._drawings}

    def _affordable(self) -> list[Iteration]:
        """Iterates that are kept, as many as can be drawn in a small share of the time of the solve."""
        budget = max(_LEAST, _SHARE * (time.perf_counter() - self._start))
        each = min(map(self._seconds, self._kept[:2]), default=0.0)  # the first may be where symbols are made
        while len(self._kept) > _FEW and each * sum(now not in self._drawings for now in self._kept) > budget:
            self._thin()
        return self._kept

    def _seconds(self, now: Iteration) -> float:
        """How long an iterate takes to be drawn."""
        begin = time.perf_counter()
        self._drawings.pop(now, None)
        self._drawn(now)
        return time.perf_counter() - begin

    def _tail(self) -> list[Recording]:
        """The last iterate, unless it is kept."""
        return [] if self._last is None or self._last in self._kept else [self._drawn(self._last)]

    def _drawn(self, now: Iteration) -> Recording:
        if now not in self._drawings:
            words = f"cost {short(now.cost)}, infeasibility {now.infeasibility:.1e}"
            times = np.linspace(0.0, now.solution.duration, _TIMES)
            drawn = solution_recording(now.solution, _name(now), muscles=self._muscles, times=times, detail=words)
            self._drawings[now] = drawn
        return self._drawings[now]

    def _show(self, recordings: list[Recording], *, live: bool) -> None:
        """The page of some iterates, where it is looked at."""
        self.page = viewer(recordings, self.title, self._slow, series=True, live=live, key=self._key).page
        if self._file is not None:
            super().save(self._file)
        elif not in_notebook():
            file = self.save(Path(tempfile.mkdtemp(prefix="colloc-")) / "iterates.html")
            print(f"colloc: the iterates are shown by {file.as_uri()}", file=sys.stderr, flush=True)
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
