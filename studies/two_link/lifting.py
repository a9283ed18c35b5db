"""How does a two-link arm lift a load when time and effort both count?

Example 2 of Xiang, Arora and Abdel-Malek (2009): gravity, 10 N hanging from the tip, cost (1 - u) T + u integral of
tau' tau with u = 0.01, in the paper's setting and converged by two transcriptions.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.two_link.convergence import answer, lifting

PUBLISHED = {"Xiang et al. 2009": 0.520}
# Indirect solution of the maximum principle, and fine direct collocation, agreeing to these digits.
CONVERGED_T, CONVERGED_COST = 0.51886031, 0.84487800


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    return answer(
        argv, __doc__, "two_link_lifting", lifting, PUBLISHED, {"T": CONVERGED_T, "cost": CONVERGED_COST}, 160
    )


if __name__ == "__main__":
    main()
