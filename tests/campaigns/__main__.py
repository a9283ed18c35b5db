"""Runs the campaigns; see --help."""

from __future__ import annotations

import argparse
import os
import pkgutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
import zlib
from collections import Counter
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path

import numpy as np

import tests.campaigns
from tests.campaigns.attempt import Attempt, Outcome

Campaign = Callable[[np.random.Generator], Attempt]
Found = dict[str, list[tuple[int, Attempt]]]


def campaigns() -> dict[str, Campaign]:
    """Every module of this package that has a function `attempt`, by name."""
    names = sorted(
        module.name for module in pkgutil.iter_modules(tests.campaigns.__path__) if module.name != "__main__"
    )
    modules = {name: import_module(f"tests.campaigns.{name}") for name in names}
    return {name: module.attempt for name, module in modules.items() if callable(getattr(module, "attempt", None))}


def run(name: str, campaign: Campaign, seed: int, first: int, seconds: float) -> list[tuple[int, Attempt]]:
    """Tries of one campaign with their numbers until the time is up, one at least; each has random numbers of its own,
    so that seed, name and number identify it."""
    found: list[tuple[int, Attempt]] = []
    end = time.monotonic() + seconds
    while not found or time.monotonic() < end:
        number = first + len(found)
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), number])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                attempt = campaign(rng)
        except Exception:
            attempt = Attempt("campaign", Outcome.RAW_TRACEBACK, "", traceback.format_exc())
        found.append((number, attempt))
    return found


def report(found: Found, seed: int) -> str:
    """Counts by campaign and kind, then what did not end well."""
    header = ("campaign", "kind", "tries", *Outcome)
    rows: list[tuple[str, ...]] = []
    for name, attempts in found.items():
        for kind in sorted({attempt.kind for _, attempt in attempts}):
            counts = Counter(attempt.outcome for _, attempt in attempts if attempt.kind == kind)
            rows.append((name, kind, str(counts.total()), *(str(counts[outcome] or "") for outcome in Outcome)))
    everything = Counter(attempt.outcome for attempts in found.values() for _, attempt in attempts)
    rows.append(("all", "", str(everything.total()), *(str(everything[outcome] or "") for outcome in Outcome)))
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = [f"seed {seed}"]
    for row in (header, *rows):
        left = [cell.ljust(width) for cell, width in zip(row[:2], widths[:2], strict=True)]
        lines.append("  ".join([*left, *(cell.rjust(width) for cell, width in zip(row[2:], widths[2:], strict=True))]))
    for name, attempts in found.items():
        for number, attempt in attempts:
            if attempt.outcome is not Outcome.FINE:
                lines += ["", f"# {name} {number}, {attempt.kind}: {attempt.outcome}: {attempt.what}", attempt.snippet]
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """Exit code: 1 if a try did not end well."""
    known = campaigns()
    parser = argparse.ArgumentParser(prog="python -m tests.campaigns", description=tests.campaigns.__doc__)
    parser.add_argument("--minutes", type=float, default=10.0, help="of all campaigns together (default: 10)")
    parser.add_argument("--seed", type=int, default=0, help="of the random numbers (default: 0)")
    parser.add_argument("--only", nargs="+", choices=known, default=list(known), help="some of the campaigns")
    parser.add_argument("--first", type=int, default=0, help="number of the first try of each campaign (default: 0)")
    args = parser.parse_args(argv)
    # A process in the background of a shell ignores Ctrl-C, and so would the campaign of interrupted calls.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    root = Path(__file__).parents[2]
    os.chdir(root)
    os.environ["PYTHONPATH"] = os.pathsep.join([str(root), *filter(None, [os.environ.get("PYTHONPATH")])])
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    os.environ.setdefault("MPLBACKEND", "Agg")
    share = 60 * args.minutes / len(args.only)
    os.environ["COLLOC_CACHE_DIR"] = tempfile.mkdtemp(prefix="colloc_cache_")
    found = {name: run(name, known[name], args.seed, args.first, share) for name in args.only}
    print(report(found, args.seed))
    return int(any(attempt.outcome is not Outcome.FINE for attempts in found.values() for _, attempt in attempts))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory(prefix="colloc_campaigns_", ignore_cleanup_errors=True) as folder:
        os.environ["TMPDIR"] = tempfile.tempdir = folder  # whatever they leave behind, and those that they kill
        code = main()
    sys.exit(code)
