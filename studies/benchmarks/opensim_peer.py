"""OpenSim's evaluation of one of its files, at states by the names of coordinates: run in a process of its own.

    python opensim_peer.py states.json answers.json

states.json maps paths of files to lists of states, each of which maps coordinates to (q, qd, qdd). Of every file the
answers have the frames of bodies, markers, lengths of muscles, generalised forces without muscles and contact, and the
mass matrix, of the coordinates given. Coordinates that couplers make dependent are what the couplers have them at, the
others at their default values.

OpenSim brings a CasADi that does not live beside another, hence the process.
"""

from __future__ import annotations

import importlib
import json
import sys
from typing import Any

import numpy as np

osim: Any = importlib.import_module("opensim") if __name__ == "__main__" else None

State = dict[str, tuple[float, float, float]]


def main(states: str, answers: str) -> None:
    """Ask OpenSim about all files."""
    osim.Logger.setLevelString("error")
    with open(states, encoding="utf-8") as file:
        questions: dict[str, list[State]] = json.load(file)
    results: dict[str, Any] = {}
    for path, asked in questions.items():
        try:
            results[path] = [Peer(path).answer(state) for state in asked]
        except Exception as error:  # whatever OpenSim says of a file
            results[path] = str(error)
    with open(answers, "w", encoding="utf-8") as file:
        json.dump(results, file)


class Peer:
    """A file, loaded."""

    def __init__(self, path: str):
        self.model = model = osim.Model(path)
        for force in model.getComponentsList():
            if (down := osim.Force.safeDownCast(force)) is not None:
                down.set_appliesForce(False)
        self.state = model.initSystem()
        names = model.getCoordinateSet()
        self.coordinates = {names.get(k).getName(): names.get(k) for k in range(names.getSize())}
        self.slots = {name: self._slot(coordinate) for name, coordinate in self.coordinates.items()}
        self.turning = self._turning()

    def _slot(self, coordinate: Any) -> int:
        """Which of the generalised speeds is that of a coordinate."""
        self.state.setU(osim.Vector(self.state.getNU(), 0.0))
        coordinate.setSpeedValue(self.state, 1.0)
        return int(np.argmax(self.state.getU().to_numpy()))

    def _turning(self) -> list[list[str]]:
        """The angles of joints whose speeds are components of an angular velocity."""
        joints = [self.model.getJointSet().get(k) for k in range(self.model.getJointSet().getSize())]
        kinds = ("BallJoint", "FreeJoint", "ScapulothoracicJoint")
        return [[j.get_coordinates(k).getName() for k in range(3)] for j in joints if j.getConcreteClassName() in kinds]

    def answer(self, given: State) -> dict[str, Any]:
        """Frames, markers, lengths, forces and masses at a state."""
        names = list(self.coordinates)
        q, qd, qdd = (dict.fromkeys(names, 0.0) for _ in range(3))
        free = np.zeros((len(names), len(given)))
        for name, coordinate in self.coordinates.items():
            q[name] = coordinate.getDefaultValue()
        for k, (name, values) in enumerate(given.items()):
            q[name], qd[name], qdd[name] = values
            free[names.index(name), k] = 1.0
        for coupler in self._couplers():
            leader, follower, value, slope, bend = self._follow(coupler, q)
            q[follower], qd[follower] = value, slope * qd[leader]
            qdd[follower] = slope * qdd[leader] + bend * qd[leader] ** 2
            free[names.index(follower)] = slope * free[names.index(leader)]
        for name, coordinate in self.coordinates.items():
            if coordinate.getLocked(self.state):
                coordinate.setLocked(self.state, False)
            coordinate.setValue(self.state, q[name], False)
        u, udot, T = self._speeds(names, q, qd, qdd)
        size = self.state.getNU()
        self.state.setU(osim.Vector.createFromMat(u))
        self.model.realizeDynamics(self.state)
        forces = osim.InverseDynamicsSolver(self.model).solve(self.state, osim.Vector.createFromMat(udot)).to_numpy()
        mass = osim.Matrix(size, size)
        self.model.getMatterSubsystem().calcM(self.state, mass)
        every = T @ free
        return {
            "bodies": {b.getName(): _transform(b.getTransformInGround(self.state)) for b in self.model.getBodyList()},
            "markers": {m.getName(): _place(m.getLocationInGround(self.state)) for m in self.model.getMarkerSet()},
            "muscles": {m.getName(): m.getLength(self.state) for m in self.model.getMuscles()},
            "torque": (every.T @ forces).tolist(),
            "mass": (every.T @ mass.to_numpy() @ every).tolist(),
            "dependent": {name: q[name] for name in names},
        }

    def _couplers(self) -> list[Any]:
        """Enforced couplers, leaders before those that follow followers."""
        every = (osim.CoordinateCouplerConstraint.safeDownCast(c) for c in self.model.getConstraintSet())
        waiting = [c for c in every if c is not None and c.get_isEnforced()]
        followers = {c.getDependentCoordinateName() for c in waiting}
        ordered: list[Any] = []
        while waiting:
            ready = [c for c in waiting if c.getIndependentCoordinateNames().get(0) not in followers]
            for coupler in ready:
                followers.discard(coupler.getDependentCoordinateName())
                waiting.remove(coupler)
            ordered += ready
        return ordered

    def _follow(self, coupler: Any, q: dict[str, float]) -> tuple[str, str, float, float, float]:
        """Leader, follower, and the follower's coordinate with two derivatives by the leader's."""
        leader, scale = coupler.getIndependentCoordinateNames().get(0), coupler.getPropertyByName("scale_factor")
        function, at = coupler.getFunction(), osim.Vector(1, q[leader])
        first, second = osim.StdVectorInt(1, 0), osim.StdVectorInt(2, 0)
        parts = function.calcValue(at), function.calcDerivative(first, at), function.calcDerivative(second, at)
        value, slope, bend = (float(scale.toString()) * part for part in parts)
        return leader, coupler.getDependentCoordinateName(), value, slope, bend

    def _speeds(
        self, names: list[str], q: dict[str, float], qd: dict[str, float], qdd: dict[str, float]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Generalised speeds, their rates, and speeds per rate of the coordinates."""
        size = self.state.getNU()
        T = np.zeros((size, len(names)))
        drift = np.zeros(size)
        for k, name in enumerate(names):
            T[self.slots[name], k] = 1.0
        for angles in self.turning:
            slots, columns = [self.slots[a] for a in angles], [names.index(a) for a in angles]
            (a, b), (da, db, dc) = (q[name] for name in angles[:2]), (qd[name] for name in angles)
            ca, sa, cb, sb = np.cos(a), np.sin(a), np.cos(b), np.sin(b)
            # Axes of the three turns in the parent: x, x-turned y, and z turned by both.
            T[np.ix_(slots, columns)] = [[1, 0, sb], [0, ca, -sa * cb], [0, sa, ca * cb]]
            drift[slots] = [
                cb * db * dc,
                -sa * da * db - (ca * cb * da - sa * sb * db) * dc,
                ca * da * db - (sa * cb * da + ca * sb * db) * dc,
            ]
        rates, changes = (np.array([by[name] for name in names]) for by in (qd, qdd))
        return T @ rates, T @ changes + drift, T


def _place(vector: Any) -> list[float]:
    return vector.to_numpy().tolist()


def _transform(transform: Any) -> list[list[float]]:
    rotation, place = transform.R(), transform.p().to_numpy()
    rows = [[rotation.asMat33().get(i, j) for j in range(3)] for i in range(3)]
    return [[*row, float(p)] for row, p in zip(rows, place, strict=True)]


if __name__ == "__main__":
    main(*sys.argv[1:])
