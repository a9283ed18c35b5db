"""Tiers of the tests, by the CPU time that each function of tests took when it was last measured.

`durations.json` lists the functions that take long, with the seconds of all their cases and of the fixtures that they
share with others. A function that is not listed is quick until a run finds that it is not, and says so.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parent / "durations.json"
LIMITS = {"quick": 0.3, "push": 2.0}  # s of CPU time
_EXCESS = 2.0  # by which a busy machine may prolong a test unnoticed
_PROPERTY = "seconds"


def cpu_seconds() -> float:
    """CPU time of this process and of those that it has started and seen end [s]."""
    return sum(os.times()[:4])


def function_of(nodeid: str) -> str:
    """A test without its parameters."""
    return nodeid.partition("[")[0]


def listed() -> dict[str, float]:
    """Seconds of the functions that take long."""
    return json.loads(FILE.read_text())


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark every test with the tiers to which it belongs."""
    durations = listed()
    for item in items:
        for tier, limit in LIMITS.items():
            if durations.get(function_of(item.nodeid), 0.0) <= limit:
                item.add_marker(tier)


@dataclass
class Clock:
    """Time of each test on its own, and of each fixture that several tests share.

    Whichever test comes first waits for the fixture; all that need it are charged.
    """

    start: float = 0.0
    elsewhere: float = 0.0
    fixtures: dict[str, float] = field(default_factory=dict)

    def begin(self) -> None:
        """A test begins."""
        self.start, self.elsewhere = cpu_seconds(), 0.0

    @contextmanager
    def set_up(self, fixture: pytest.FixtureDef[Any]) -> Iterator[None]:
        """Time a fixture while it is set up."""
        before, nested = cpu_seconds(), self.elsewhere
        yield
        if fixture.scope != "function":
            inside = self.elsewhere - nested
            self.fixtures[_name(fixture)] = self.fixtures.get(_name(fixture), 0.0) + cpu_seconds() - before - inside
            self.elsewhere = nested + cpu_seconds() - before

    def stop(self, item: pytest.Item) -> None:
        """Write into the test's report what it took, and what its fixtures did."""
        known = item._fixtureinfo.name2fixturedefs.values() if isinstance(item, pytest.Function) else ()
        shared = {_name(f[-1]): self.fixtures[_name(f[-1])] for f in known if _name(f[-1]) in self.fixtures}
        item.user_properties.append((_PROPERTY, (cpu_seconds() - self.start - self.elsewhere, shared)))


def _name(fixture: pytest.FixtureDef[Any]) -> str:
    return f"{fixture.baseid}::{fixture.argname}"


@dataclass
class Measured:
    """What the functions of one run took, wherever their cases ran."""

    alone: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    shared: dict[str, dict[str, float]] = field(default_factory=lambda: defaultdict(dict))

    def add(self, report: pytest.TestReport) -> None:
        """One case."""
        values: list[Any] = [value for name, value in report.user_properties if name == _PROPERTY]
        for seconds, shared in values:
            self.alone[function_of(report.nodeid)] += seconds
            self.shared[function_of(report.nodeid)].update(shared)

    def seconds(self) -> dict[str, float]:
        """Seconds of every function with its fixtures."""
        return {name: seconds + sum(self.shared[name].values()) for name, seconds in self.alone.items()}

    def too_long(self) -> list[str]:
        """A line for every function that takes longer than its tier allows."""
        durations = listed()
        lines = []
        for name, seconds in self.seconds().items():
            tiers = [tier for tier, limit in LIMITS.items() if durations.get(name, 0.0) <= limit]
            if tiers and seconds > _EXCESS * LIMITS[tiers[0]]:
                lines.append(f"{name} takes {seconds:.1f} s of CPU time; tests of the tier {tiers[0]!r} take at most"
                             f" {LIMITS[tiers[0]]:g} s")  # fmt: skip
        return lines

    def save(self) -> None:
        """Bring the list up to date with the functions that ran; what is gone from their files is dropped."""
        files = {name.partition("::")[0] for name in self.alone}
        kept = {name: seconds for name, seconds in listed().items() if name.partition("::")[0] not in files}
        long = {name: round(seconds, 1) for name, seconds in self.seconds().items() if seconds > LIMITS["quick"]}
        FILE.write_text(json.dumps(dict(sorted((kept | long).items())), indent=0) + "\n")
