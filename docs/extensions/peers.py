"""Tables of the comparison with other tools, from the numbers of its full run."""

import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path

from colloc.studies.benchmarks.peers.comparison import COSTLIER, MISS, MISSES, excess
from colloc.studies.benchmarks.ticks import WAYS

STUDY = "benchmarks.peers.comparison"
NAMES = {
    "colloc": "colloc",
    "colloc_grid": "colloc, equal intervals",
    "opti": "CasADi Opti",
    "rockit": "rockit",
    "moco": "OpenSim Moco",
    "drake": "Drake",
    "crocoddyl": "Crocoddyl",
    "dymos": "dymos",
    "opty": "opty",
    "toppra": "TOPPRA",
    "asset": "ASSET",
    "yapss": "yapss",
    "acados": "acados",
    "nosnoc": "nosnoc",
    "biosym": "biosym",
    "pinocchio": "Pinocchio",
    "mujoco": "MuJoCo",
}
HEADER = ("", "lines", "cold, s", "warm, s", "iterations", "claimed cost", "true cost", "off by", "claims", "")
PROBLEMS = {
    "two_link_effort": "two links, effort",
    "two_link_time": "two links, fastest",
    "cart_pole": "cart and pole, swing-up",
    "cart_pole_64": "cart and pole, 64 intervals",
    "three_link_effort": "three links, effort",
    "three_link_time": "three links, fastest",
    "squat": "squat to stand",
    "rise_by_motors": "rise by motors, as Moco publishes it",
    "rise_by_muscles": "rise by nine muscles",
    "walk_by_motors": "walk by five motors",
    "walk_by_muscles": "walk by 18 muscles, followed",
    "predict_by_muscles": "walk by 18 muscles, predicted",
    "panda_effort": "Panda, effort",
    "panda_time": "Panda, fastest",
    "hop": "hop",
    "goddard": "Goddard's rocket",
    "alp_rider": "alp rider",
    "slide": "slide with dry friction",
    "delta_iii": "Delta III",
    "stand": "stand by six motors",
}
NARROW = {"toppra"}  # on its straight line alone


def tools(numbers: Mapping[str, float], problem: str) -> list[str]:
    """Tools that answered a problem, or failed at it, those with the same answer first, the fastest first."""
    named = [tool for tool in NAMES if f"{problem}.{tool}.good" in numbers]
    return sorted(named, key=lambda tool: (verdict(numbers, problem, tool) != "", seconds(numbers, problem, tool)))


def seconds(numbers: Mapping[str, float], problem: str, tool: str, kind: str = "cold") -> float:
    """Processor's seconds of an answer, inf where there is none."""
    return numbers.get(f"{problem}.{tool}.{kind}", float("inf"))


def verdict(numbers: Mapping[str, float], problem: str, tool: str) -> str:
    """What keeps an answer from being the same as the best; empty if nothing does."""
    key = f"{problem}.{tool}"
    if f"{key}.true_cost" not in numbers:
        return "no answer"
    above = excess(numbers[f"{key}.true_cost"], numbers[f"{problem}.best"])
    if not numbers[f"{key}.good"]:
        return "misses" if numbers[f"{key}.miss"] > MISSES.get(problem, MISS) else "over limits"
    if above <= COSTLIER:
        return ""
    return f"costlier by {100 * above:.2g} %" + (", straight" if tool in NARROW else "")


def cells(numbers: Mapping[str, float], problem: str, tool: str) -> Sequence[str]:
    """A row of a problem's table."""
    said = verdict(numbers, problem, tool)
    if said == "no answer":
        return (NAMES[tool], *[""] * 8, said)

    def of(key: str, pattern: str) -> str:
        value = numbers.get(f"{problem}.{tool}.{key}")
        return "" if value is None else format(value, pattern)

    off = max(numbers[f"{problem}.{tool}.{key}"] for key in ("miss", "overstep"))
    first = of("lines", ".0f"), of("cold", ".2f"), of("warm", ".2f"), of("iterations", ".0f")
    calls = "solved" if numbers[f"{problem}.{tool}.solved"] else "not solved"
    return (NAMES[tool], *first, of("cost", ".6g"), of("true_cost", ".6g"), f"{off:.0e}", calls, said)


def summary(numbers: Mapping[str, float]) -> str:
    """The fastest tool of every problem that gives the same answer, and colloc."""
    rows = []
    for problem, name in PROBLEMS.items():
        if f"{problem}.best" not in numbers:
            continue
        same = [tool for tool in tools(numbers, problem) if not verdict(numbers, problem, tool)]
        others = [tool for tool in same if not tool.startswith("colloc")]

        def pair(tool: str, problem: str = problem) -> str:
            if tool not in tools(numbers, problem):
                return "not asked"
            if verdict(numbers, problem, tool):
                return verdict(numbers, problem, tool)
            return " / ".join(f"{seconds(numbers, problem, tool, kind):.2f}" for kind in ("cold", "warm"))

        best = f"{NAMES[others[0]]} {pair(others[0])}" if others else "none"
        rows.append((name, pair("colloc"), pair("colloc_grid"), best, str(len(others))))
    header = ("", "colloc", "colloc, equal intervals", "fastest other with the same answer", "others with it")
    return markdown(header, rows)


def behind(numbers: Mapping[str, float]) -> dict[str, list[tuple[str, str]]]:
    """By problem, the tools that have the same answer sooner than colloc, with "cold" or "warm"."""
    found: dict[str, list[tuple[str, str]]] = {}
    for problem in PROBLEMS:
        same = [tool for tool in tools(numbers, problem) if not verdict(numbers, problem, tool)]
        ours = [tool for tool in same if tool.startswith("colloc")]
        for kind in ("cold", "warm"):
            best = min((seconds(numbers, problem, tool, kind) for tool in ours), default=float("inf"))
            sooner = [tool for tool in same if tool not in ours and seconds(numbers, problem, tool, kind) < best]
            found.setdefault(problem, []).extend((tool, kind) for tool in sooner)
    return {problem: pairs for problem, pairs in found.items() if pairs}


def reasons(numbers: Mapping[str, float]) -> str:
    """The problems in which another tool is sooner, and why; KeyError for a problem without a reason."""
    why = tomllib.loads((Path(__file__).parent.parent / "tables" / "compared.toml").read_text(encoding="utf-8"))[
        "reasons"
    ]
    rows = []
    for problem, pairs in behind(numbers).items():
        named = {tool: [kind for other, kind in pairs if other == tool] for tool, _ in pairs}
        sooner = ", ".join(f"{NAMES[tool]} ({' and '.join(kinds)})" for tool, kinds in named.items())
        rows.append((PROBLEMS[problem], sooner, why[problem]))
    return markdown(("", "sooner than colloc", "why"), rows)


def dynamics(numbers: Mapping[str, float]) -> str:
    """Microseconds of the 43-DOF human's inverse dynamics."""
    keys = ("torque_us", "derivatives_us", "difference")
    named = [tool for tool in NAMES if f"human43.{tool}.torque_us" in numbers]
    rows = [(NAMES[tool], *(f"{numbers[f'human43.{tool}.{key}']:.3g}" for key in keys)) for tool in named]
    return markdown(("", "torques, us", "and all first derivatives, us", "apart from ours"), rows)


def controllers(numbers: Mapping[str, float]) -> str:
    """Milliseconds of a tick of controllers, and what they do of the task."""
    keys = ("median", "p99", "worst", "miss", "position", "speed", "torque")
    named = [(tool, way) for way in WAYS for tool in NAMES if f"ticks.{tool}.{_key(way)}.median" in numbers]
    if not named:
        return "*Not in the run that is kept.*"
    stems = [f"ticks.{tool}.{_key(way)}" for tool, way in named]
    rows = [
        (NAMES[tool], way, *(f"{numbers[f'{stem}.{key}']:.3g}" for key in keys))
        for (tool, way), stem in zip(named, stems, strict=True)
    ]
    header = ("", "at a tick", "median, ms", "99 %, ms", "worst, ms", "miss, rad", "position", "speed", "torque")
    return markdown(header, rows)


def _key(way: str) -> str:
    return way.replace(" ", "_")


def tables(numbers: Mapping[str, float]) -> dict[str, str]:
    """All tables in Markdown, by problem, with "summary", "reasons", "human43" and "ticks"."""
    made = {"summary": summary(numbers), "reasons": reasons(numbers), "human43": dynamics(numbers)}
    made["ticks"] = controllers(numbers)
    for problem in PROBLEMS:
        rows = [cells(numbers, problem, tool) for tool in tools(numbers, problem)]
        made[problem] = markdown(HEADER, rows) if rows else "*Not in the run that is kept.*"
    return made


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruled = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.strip() for cell in row)} |" for row in ruled)
