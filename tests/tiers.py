"""Tiers of the tests, by the CPU time that they took when they were last measured.

`durations.json` lists the functions of tests that take long, with the seconds of all their cases and of the fixtures
that they share with others, and the single cases that take very long. A test that is not listed counts as quick until a
run finds that it is not.
"""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

FILE = Path(__file__).parent / "durations.json"
LIMITS = {"quick": 0.25, "push": 2.5}  # s of CPU time of all cases of a function
LONG = 3.0  # s of CPU time of one case
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
    return json.loads(FILE.read_text(encoding="utf-8"))


def tiers(nodeid: str, durations: Mapping[str, float]) -> list[str]:
    """Tiers to which a test belongs; none if it is neither short nor long."""
    if durations.get(nodeid, 0.0) > LONG:
        return ["long"]
    return [tier for tier, limit in LIMITS.items() if durations.get(function_of(nodeid), 0.0) <= limit]


def mark(items: Iterable[pytest.Item]) -> None:
    """Mark every test with its tiers."""
    durations = listed()
    for item in items:
        for tier in tiers(item.nodeid, durations):
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
    """Durations of the tests of one run, in all processes."""

    alone: dict[str, float] = field(default_factory=dict)
    shared: dict[str, dict[str, float]] = field(default_factory=dict)

    def add(self, report: pytest.TestReport) -> None:
        """One test."""
        values: list[Any] = [value for name, value in report.user_properties if name == _PROPERTY]
        for seconds, shared in values:
            self.alone[report.nodeid], self.shared[report.nodeid] = seconds, shared

    def cases(self) -> dict[str, float]:
        """Seconds of every test with its fixtures."""
        return {test: seconds + sum(self.shared[test].values()) for test, seconds in self.alone.items()}

    def functions(self) -> dict[str, float]:
        """Seconds of the cases of every function together, with their fixtures."""
        seconds, shared = defaultdict(float), defaultdict(dict)
        for test in self.alone:
            seconds[function_of(test)] += self.alone[test]
            shared[function_of(test)] |= self.shared[test]
        return {name: total + sum(shared[name].values()) for name, total in seconds.items()}

    def too_long(self) -> list[str]:
        """A line for all that takes longer than its tier allows."""
        durations, lines = listed(), {}
        for name, seconds in self.functions().items():
            allowed = [LIMITS[tier] for tier in tiers(name, durations) if tier in LIMITS]
            if allowed and seconds > _EXCESS * allowed[0]:
                lines[name] = f"{name} takes {seconds:.1f} s of CPU time, and was listed with at most {allowed[0]:g} s"
        for name, seconds in self.cases().items():
            if seconds > _EXCESS * LONG and tiers(name, durations) != ["long"]:
                lines[function_of(name)] = f"{name} takes {seconds:.1f} s of CPU time, and is not listed as long"
        return list(lines.values())

    def save(self) -> None:
        """Bring the list up to date with the files that ran; tests that no longer exist are dropped."""
        files = {name.partition("::")[0] for name in self.alone}
        kept = {name: seconds for name, seconds in listed().items() if name.partition("::")[0] not in files}
        kept |= {name: round(seconds, 1) for name, seconds in self.functions().items() if seconds > LIMITS["quick"]}
        kept |= {name: round(seconds, 1) for name, seconds in self.cases().items() if seconds > LONG}
        FILE.write_text(json.dumps(dict(sorted(kept.items())), indent=0) + "\n", encoding="utf-8")
