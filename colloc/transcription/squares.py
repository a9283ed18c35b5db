"""Sums of squares found in an expression: their residuals are what Gauss-Newton needs."""

from __future__ import annotations

from typing import NamedTuple

import casadi as ca


class Squares(NamedTuple):
    """An expression as weights' residuals squared plus the rest.

    Parameters
    ----------
    residuals : list of SX scalars
    weights : list of SX scalars
        Of nothing that varies.
    rest : SX scalar
    """

    residuals: list[ca.SX]
    weights: list[ca.SX]
    rest: ca.SX


def split_squares(expression: ca.SX, varying: ca.SX) -> Squares:
    """Take the squares out of a sum.

    What is added, subtracted, multiplied or divided by something constant, or switched by a constant condition is
    followed to its terms; a term that is a square gives its root, any other stays in the rest.

    Parameters
    ----------
    expression : SX scalar
    varying : SX symbols
        What may not stand in a weight.
    """
    found, rest = Squares([], [], ca.SX(0)), ca.SX(0)
    waiting = [(expression, ca.SX(1))]
    while waiting:
        term, weight = waiting.pop()
        left, right = (term.dep(0), term.dep(1)) if term.n_dep() == 2 else (term, term)
        if term.is_op(ca.OP_SQ):
            found.residuals.append(term.dep(0))
            found.weights.append(weight)
        elif term.is_op(ca.OP_ADD):
            waiting += [(right, weight), (left, weight)]
        elif term.is_op(ca.OP_SUB):
            waiting += [(right, -weight), (left, weight)]
        elif term.is_op(ca.OP_NEG):
            waiting.append((term.dep(0), -weight))
        elif term.is_op(ca.OP_TWICE):
            waiting.append((term.dep(0), 2 * weight))
        elif term.is_op(ca.OP_MUL) and not ca.depends_on(left, varying):
            waiting.append((right, weight * left))
        elif term.is_op(ca.OP_MUL) and not ca.depends_on(right, varying):
            waiting.append((left, weight * right))
        elif term.is_op(ca.OP_DIV) and not ca.depends_on(right, varying):
            waiting.append((left, weight / right))
        elif term.is_op(ca.OP_IF_ELSE_ZERO) and not ca.depends_on(left, varying):
            waiting.append((right, weight * left))  # a condition is 0 or 1
        else:
            rest += weight * term
    return found._replace(rest=rest)
