"""Tables of the comparison with other tools, from the numbers of its full run."""

from collections.abc import Mapping, Sequence

from colloc.studies.benchmarks.peers.comparison import COSTLIER, MISS, MISSES, excess

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
    "pinocchio": "Pinocchio",
    "mujoco": "MuJoCo",
}
HEADER = ("", "lines", "cold, s", "warm, s", "iterations", "claimed cost", "true cost", "off by", "claims", "")
PROBLEMS = {
    "two_link_effort": "two links, effort",
    "two_link_time": "two links, fastest",
    "cart_pole": "cart and pole, swing-up",
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
        same = [tool for tool in tools(numbers, problem) if not verdict(numbers, problem, tool)]
        others = [tool for tool in same if not tool.startswith("colloc")]

        def pair(tool: str, problem: str = problem) -> str:
            if verdict(numbers, problem, tool):
                return verdict(numbers, problem, tool)
            return " / ".join(f"{seconds(numbers, problem, tool, kind):.2f}" for kind in ("cold", "warm"))

        best = f"{NAMES[others[0]]} {pair(others[0])}" if others else "none"
        rows.append((name, pair("colloc"), pair("colloc_grid"), best, str(len(others))))
    header = ("", "colloc", "colloc, equal intervals", "fastest other with the same answer", "others with it")
    return markdown(header, rows)


def dynamics(numbers: Mapping[str, float]) -> str:
    """Microseconds of the 43-DOF human's inverse dynamics."""
    keys = ("torque_us", "derivatives_us", "difference")
    named = [tool for tool in NAMES if f"human43.{tool}.torque_us" in numbers]
    rows = [(NAMES[tool], *(f"{numbers[f'human43.{tool}.{key}']:.3g}" for key in keys)) for tool in named]
    return markdown(("", "torques, us", "and all first derivatives, us", "apart from ours"), rows)


def tables(numbers: Mapping[str, float]) -> dict[str, str]:
    """All tables in Markdown, by problem, with "summary" and "human43"."""
    made = {"summary": summary(numbers), "human43": dynamics(numbers)}
    for problem in PROBLEMS:
        made[problem] = markdown(HEADER, [cells(numbers, problem, tool) for tool in tools(numbers, problem)])
    return made


def markdown(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    ruled = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cell.strip() for cell in row)} |" for row in ruled)
