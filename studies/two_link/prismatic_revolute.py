"""How does a slide-and-hinge arm move when time and effort both count?

Section 4.2 of Barman (2020), with the hinge angle measured as the Denavit-Hartenberg rows say: from x1, perpendicular
to the slide. The published 0.5585 s was not reproduced by any reading of the text; with the link along the slide at
q2 = 0 the optimum is 0.6463 s, with it turned by +90 degrees 0.7127 s.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.two_link.convergence import answer, slide_and_arm

PUBLISHED = {"Barman 2020": 0.5585}
# Indirect solution of the maximum principle, and fine direct collocation, agreeing to these digits.
CONVERGED_T, CONVERGED_COST = 0.58578391, 0.77323476


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    converged = {"T": CONVERGED_T, "cost": CONVERGED_COST}
    return answer(argv, __doc__, "prismatic_revolute", slide_and_arm, PUBLISHED, converged, 160)


if __name__ == "__main__":
    main()
