"""How fast can a two-link arm swing from rest to rest?

Example 1 of Xiang, Arora and Abdel-Malek (2009) and section 4.1 of Barman (2020): the time-optimal motion under
torque limits, in the paper's setting and converged by two transcriptions, with the torques integrated forward.
"""

from __future__ import annotations

from collections.abc import Sequence

from studies.two_link.convergence import answer, time_optimal

PUBLISHED = {"Xiang et al. 2009": 0.3934, "Barman 2020": 0.392, "Wang et al. 2005": 0.394, "Furukawa 2002": 0.3945}
# Maximum principle with exact switching times (tau1: one switch, tau2: two), integrated at 8th order.
EXACT = 0.391854539516


def main(argv: Sequence[str] | None = None) -> dict[str, float]:
    """Run the study; see --help."""
    return answer(argv, __doc__, "two_link_time_optimal", time_optimal, PUBLISHED, {"T": EXACT}, 320)


if __name__ == "__main__":
    main()
