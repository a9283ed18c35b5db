"""Sums of squares in an expression, whose residuals the Gauss-Newton method needs."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca


class SumOfSquares(NamedTuple):
    """An expression as the sum of weighted squares of residuals, and the rest."""

    residuals: list[ca.SX]
    weights: list[ca.SX]  # of nothing that varies
    rest: ca.SX  # SX scalar


def split_sum_of_squares(expression: ca.SX, varying: ca.SX) -> SumOfSquares:
    """The squares in a sum, SX scalar, and the rest; weights do not depend on `varying`.

    Sums, differences, products and quotients with constants, and conditional expressions are followed to their terms;
    a term that is a square gives its root, all others stay in the rest.
    """
    squares, rest = SumOfSquares([], [], ca.SX(0)), ca.SX(0)
    waiting: list[tuple[ca.SX, ca.SX, ca.SX | None]] = [(expression, ca.SX(1), None)]
    while waiting:
        term, weight, switch = waiting.pop()
        left, right = (term.dep(0), term.dep(1)) if term.n_dep() == 2 else (term, term)
        if term.is_op(ca.OP_SQ):
            squares.residuals.append(_switched(switch, term.dep(0)))  # whose square is switched likewise
            squares.weights.append(weight)
        elif term.is_op(ca.OP_ADD):
            waiting += [(right, weight, switch), (left, weight, switch)]
        elif term.is_op(ca.OP_SUB):
            waiting += [(right, -weight, switch), (left, weight, switch)]
        elif term.is_op(ca.OP_NEG):
            waiting.append((term.dep(0), -weight, switch))
        elif term.is_op(ca.OP_TWICE):
            waiting.append((term.dep(0), 2 * weight, switch))
        elif term.is_op(ca.OP_MUL) and not ca.depends_on(left, varying):
            waiting.append((right, weight * left, switch))
        elif term.is_op(ca.OP_MUL) and not ca.depends_on(right, varying):
            waiting.append((left, weight * right, switch))
        elif term.is_op(ca.OP_DIV) and not ca.depends_on(right, varying):
            waiting.append((left, weight / right, switch))
        elif term.is_op(ca.OP_IF_ELSE_ZERO) and not ca.depends_on(left, varying):
            waiting.append((right, weight * left, switch))  # a condition is 0 or 1
        elif term.is_op(ca.OP_IF_ELSE_ZERO):
            waiting.append((right, weight, left if switch is None else ca.logic_and(switch, left)))
        else:
            rest += weight * _switched(switch, term)
    return squares._replace(rest=rest)


def _switched(switch: ca.SX | None, term: ca.SX) -> ca.SX:
    return term if switch is None else ca.if_else(switch, term, 0)
