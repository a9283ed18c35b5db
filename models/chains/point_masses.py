"""The planar robot with point masses at the ends of its links, in closed form.

S. Calinon, "A practical guide to learning and control problems in robotics solved with second-order optimization"
(Robotics codes from scratch), section 8, "Forward dynamics for a planar robot manipulator": absolute angles q (of every
link from the x axis), in which the equations of motion are short, and relative angles x (of every link from the link
before), which motors turn; q = L x with L the lower triangle of ones. Equation numbers are those of that text.

All functions take NumPy arrays with any number of samples: the last axis is the link.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

import colloc as co
from colloc.support.checks import as_tuple, finite_number
from colloc.support.lazy import cached_property


@dataclass(frozen=True, eq=False)
class PointMassChain:
    """N massless links in the x-y plane, each with a point mass at its far end, hinged about z.

    Parameters
    ----------
    lengths : sequence of N floats [m]
    masses : sequence of N floats [kg]
    gravity : float [m/s2]
        Along -y; zero for a robot that moves in the horizontal plane.

    Raises
    ------
    InputError
        For lengths or masses that are not positive, or of different numbers.
    """

    lengths: Sequence[float]
    masses: Sequence[float]
    gravity: float = 9.81

    def __post_init__(self):
        for name in ("lengths", "masses"):
            values = as_tuple(name, getattr(self, name))
            numbers = tuple(finite_number(name, value, positive=True) for value in values)
            object.__setattr__(self, name, numbers)
        if not self.lengths or len(self.lengths) != len(self.masses):
            raise co.InputError(f"lengths and masses must be equally many, got {self.lengths!r} and {self.masses!r}")
        object.__setattr__(self, "gravity", finite_number("gravity", self.gravity))

    @property
    def n(self) -> int:
        return len(self.lengths)

    @cached_property
    def carried(self) -> np.ndarray:
        """Mass at and beyond the end of every link, shape (n,) [kg]."""
        return np.cumsum(self.masses[::-1])[::-1]

    @cached_property
    def coupling(self) -> np.ndarray:
        """l_z l_k times the sum of m_j over j >= max(z, k), shape (n, n) [kg m2]."""
        link = np.arange(self.n)
        return np.outer(self.lengths, self.lengths) * self.carried[np.maximum.outer(link, link)]

    @cached_property
    def weight(self) -> np.ndarray:
        """Torque of gravity on every link when it is horizontal, shape (n,) [N m]."""
        return self.gravity * self.carried * self.lengths

    def tree(self) -> co.Model:
        """The mechanism as a tree of rigid bodies; its coordinates are the relative angles.

        Bodies "link1" to "link<n>"; each body's frame sits at the far end of its link, where its mass is.
        """
        bodies = [
            co.Body(f"link{k}", co.dh_revolute(a=length), f"link{k - 1}" if k > 1 else None, mass)
            for k, (length, mass) in enumerate(zip(self.lengths, self.masses, strict=True), start=1)
        ]
        return co.Model(bodies, gravity=(0.0, -self.gravity, 0.0), name=f"planar {self.n}-link robot")


def absolute(x: np.ndarray) -> np.ndarray:
    """L x: absolute angles of relative ones, or their rates, shape (..., n)."""
    return np.cumsum(x, axis=-1)


def relative(q: np.ndarray) -> np.ndarray:
    """L^-1 q: relative angles of absolute ones, or their rates, shape (..., n)."""
    x = q.copy()  # np.diff with a zero before the first takes ten times as long, which a simulation notices
    x[..., 1:] -= q[..., :-1]
    return x


def generalised_forces(tau: np.ndarray) -> np.ndarray:
    """L^-T tau: a joint's torque less the reaction of the next one's, shape (..., n) [N m] (equation 107)."""
    u = tau.copy()
    u[..., :-1] -= tau[..., 1:]
    return u


def tip(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """Position of the last mass at absolute angles q, shape (..., 2) [m] (equation 105)."""
    return np.stack([np.cos(q) @ chain.lengths, np.sin(q) @ chain.lengths], axis=-1)


def mass_matrix(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """M of M qdd + g + C diag(qd) qd = u (equation 109).

    Parameters
    ----------
    chain : PointMassChain
    q : ndarray, shape (..., n) [rad]
        Absolute angles.

    Returns
    -------
    ndarray, shape (..., n, n) [kg m2]
    """
    return chain.coupling * np.cos(q[..., :, None] - q[..., None, :])


def coriolis_matrix(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """C of equation 109, parameters and shape as in `mass_matrix`; it multiplies the squared rates."""
    return chain.coupling * np.sin(q[..., :, None] - q[..., None, :])


def gravity_forces(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """g of equation 109 at absolute angles, shape (..., n) [N m]."""
    return chain.weight * np.cos(q)


def relative_terms(chain: PointMassChain, x: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """M, C, g of M xdd + g + C diag(L xd) L xd = tau (equation 110).

    Parameters
    ----------
    chain : PointMassChain
    x : ndarray, shape (..., n) [rad]
        Relative angles.

    Returns
    -------
    M, C : ndarray, shape (..., n, n) [kg m2]
    g : ndarray, shape (..., n) [N m]
    """
    q, L = absolute(x), np.tri(chain.n)
    mass, coriolis = mass_matrix(chain, q), coriolis_matrix(chain, q)
    return L.T @ mass @ L, L.T @ coriolis, gravity_forces(chain, q) @ L


def mass_tensor(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """M': dM[h, k]/dq[p] at (..., h, k, p), shape (..., n, n, n).

    Section 8.1 prints one of the two cases with a sum over j >= k: both are over j >= max(h, k).
    """
    return -coriolis_matrix(chain, q)[..., None] * _between(chain.n)


def coriolis_tensor(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """C': dC[h, k]/dq[p] at (..., h, k, p), shape (..., n, n, n); sums over j >= max(h, k), as in `mass_tensor`."""
    return mass_matrix(chain, q)[..., None] * _between(chain.n)


def gravity_tensor(chain: PointMassChain, q: np.ndarray) -> np.ndarray:
    """g': dg[h]/dq[p] at (..., h, p), shape (..., n, n)."""
    return -(chain.weight * np.sin(q))[..., None] * np.eye(chain.n)


def _between(n: int) -> np.ndarray:
    """Derivative of q[h] - q[k] by q[p], at (h, k, p)."""
    identity = np.eye(n)
    return identity[:, None, :] - identity[None, :, :]


def forward_dynamics(chain: PointMassChain, q: np.ndarray, qd: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Accelerations of the absolute angles.

    Parameters
    ----------
    chain : PointMassChain
    q, qd : ndarray, shape (..., n) [rad, rad/s]
    u : ndarray, shape (..., n) [N m]
        Generalised forces, see `generalised_forces`.

    Returns
    -------
    ndarray, shape (..., n) [rad/s2]
    """
    pull = (coriolis_matrix(chain, q) @ (qd**2)[..., None])[..., 0]
    net = u - gravity_forces(chain, q) - pull
    return np.linalg.solve(mass_matrix(chain, q), net[..., None])[..., 0]


def euler_step(chain: PointMassChain, state: np.ndarray, u: np.ndarray, dt: float) -> np.ndarray:
    """The state (q, qd) after a time step dt, shape (..., 2 n) (equation 111)."""
    q, qd = state[..., : chain.n], state[..., chain.n :]
    return np.concatenate([q + dt * qd, qd + dt * forward_dynamics(chain, q, qd, u)], axis=-1)


def euler_linearisation(
    chain: PointMassChain, state: np.ndarray, u: np.ndarray, dt: float
) -> tuple[np.ndarray, np.ndarray]:
    """A_t and B_t of `euler_step` (section 8.1).

    Parameters
    ----------
    chain : PointMassChain
    state : ndarray, shape (..., 2 n) [rad, rad/s]
        Absolute angles q, then their rates.
    u : ndarray, shape (..., n) [N m]
    dt : float [s]

    Returns
    -------
    A : ndarray, shape (..., 2 n, 2 n)
    B : ndarray, shape (..., 2 n, n)
    """
    q, qd = state[..., : chain.n], state[..., chain.n :]
    n, inverse = chain.n, np.linalg.inv(mass_matrix(chain, q))
    qdd = forward_dynamics(chain, q, qd, u)
    # Derivative of M qdd + g + C qd^2 - u by q at constant qdd; (M^-1)' = -M^-1 M' M^-1 makes A_21 of it.
    shifted = np.einsum("...hkp,...k->...hp", mass_tensor(chain, q), qdd) + gravity_tensor(chain, q)
    shifted += np.einsum("...hkp,...k->...hp", coriolis_tensor(chain, q), qd**2)
    A = np.zeros((*state.shape[:-1], 2 * n, 2 * n))
    A[..., :n, :n], A[..., :n, n:] = np.eye(n), dt * np.eye(n)
    A[..., n:, :n] = -dt * inverse @ shifted
    A[..., n:, n:] = np.eye(n) - 2 * dt * inverse @ (coriolis_matrix(chain, q) * qd[..., None, :])
    return A, np.concatenate([np.zeros_like(inverse), dt * inverse], axis=-2)


def relative_response(S: np.ndarray, n: int) -> np.ndarray:
    """L_x^-1 S L_u: response of relative angles to joint torques, from that of absolute angles to forces.

    The end of section 8.1, without the block-diagonal matrices: L^-1 takes differences of neighbours.

    Parameters
    ----------
    S : ndarray, shape (..., 2 n a, n b)
        Response of a states (angles, rates) to b vectors of forces, one after another: S_u of equation 112, or one B_t.
    n : int
        Number of links.

    Returns
    -------
    ndarray, shape of S
    """
    *samples, rows, columns = S.shape
    blocks = S.reshape(*samples, rows // n, n, columns // n, n)
    return np.diff(np.diff(blocks, axis=-3, prepend=0.0), axis=-1, prepend=0.0).reshape(S.shape)


def discretised(chain: PointMassChain, dt: float) -> co.control.System:
    """Equation 111 as a system for control: state of relative angles and rates, controlled by joint torques.

    Parameters
    ----------
    chain : PointMassChain
    dt : float [s]
    """
    n, dt = chain.n, finite_number("dt", dt, positive=True)

    def turned(convert: Callable[[np.ndarray], np.ndarray], state: np.ndarray) -> np.ndarray:
        return convert(state.reshape(*state.shape[:-1], 2, n)).reshape(state.shape)

    def step(_: int, state: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return turned(relative, euler_step(chain, turned(absolute, state), generalised_forces(tau), dt))

    def linearise(state: np.ndarray, tau: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        A, B = euler_linearisation(chain, turned(absolute, state), generalised_forces(tau), dt)
        L = np.kron(np.eye(2), np.tri(n))
        return np.linalg.solve(L, A @ L), relative_response(B, n)

    return co.control.System(2 * n, n, step, linearise)
