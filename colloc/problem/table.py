"""A problem as a table."""

from __future__ import annotations

from colloc.problem.constraint_rows import ConstraintRows
from colloc.problem.statement import Statement
from colloc.problem.unknowns import State
from colloc.support.display import Table, short, shown


def problem_table(problem: Statement) -> Table:
    """Model, duration, costs, constraints and unknowns, one line each."""
    model = problem.model
    lines = [("model", f"{model.name}, {model.n} DOF: {shown(model.joint_names)}" if model.n else model.name)]
    lines.append(("duration", problem.span))
    lines += [("minimize", f"{short(term.weight)} * {name}") for name, (term, _) in problem.costs.items()]
    lines += [("subject to", f"{name}: {_describe(stated)}") for name, stated in problem.rows.items()]
    for unknown in problem.unknowns:
        kind = "state" if isinstance(unknown, State) else "constant" if unknown.constant else "signal"
        lines.append(("unknown", f"{unknown.name}: {kind}, size {unknown.size}"))
    lines += [("parameter", f"{p.name} = {shown(list(map(short, p.value)))}") for p in problem.parameters]
    lines += [("load", f"on {load.body}") for load in problem.loads]
    return Table(f"Problem: {len(problem.rows)} constraints", ("", ""), lines)


def _describe(stated: ConstraintRows) -> str:
    rows = stated.rows
    values = [
        short(low) if low == high else f"[{short(low)}, {short(high)}]"
        for low, high in zip(rows.lower, rows.upper, strict=True)
    ]
    listed = values[0] if len(set(values)) == 1 else f"({shown(values, 6)})"
    return f"{len(values)} row{'s' if len(values) > 1 else ''} in {listed} {stated.constraint.where}"
