"""A page on which a mechanism is played in the meshes of its file, through viser."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING, Any, NamedTuple

import casadi as ca
import numpy as np

from colloc.formats.reading import LinkShape
from colloc.loops import ClosedChain
from colloc.model import Model
from colloc.model.kinematics import frames
from colloc.plot.posture import postures, skeleton
from colloc.plot.sampling import by_phase, title_of
from colloc.plot.skeleton import StickFigure, places, skeleton_from
from colloc.plot.triangles import check_files, check_packages, obstacle, triangles
from colloc.plot.viewer import Viewer
from colloc.solution import SequenceSolution, Solution
from colloc.support.checks import InputError, as_tuple, finite_number, instance, quoted, spelt, unknown_name

if TYPE_CHECKING:
    from trimesh import Trimesh

_RATE, _MOST = 30, 900  # pictures a second of the play, and in all
_SHORT = 3.0  # s, which motions of less than one play
_AMBIENT = 0.5  # of the light from all around, which leaves shades on white links
_SEEN = 60  # pictures by which the camera is set
_NEAR = 0.5  # of the size: as far above zero may it stay for the floor to be at zero
_ANGLE, _TURN, _TILT = 0.6, 0.75, 0.3  # rad; of the camera, about the vertical, above the floor
# The page may use what is in it, and nothing else.
_POLICY = "default-src 'unsafe-inline' 'unsafe-eval' 'wasm-unsafe-eval' data: blob:"


class _MovedLinks(NamedTuple):
    """What is played."""

    title: str
    t: np.ndarray  # shape (N,) [s]
    frames: np.ndarray  # shape (N, bodies, 4, 4), of the links that have shapes
    figure: StickFigure  # which knows what is up, and what stands in the world


@spelt
def meshes(
    x: Model | ClosedChain | Solution | SequenceSolution,
    shapes: Sequence[LinkShape],
    q: Any = None,
    t: Any = None,
    *,
    slow: float | None = None,
) -> Viewer:
    """A page on which a mechanism is seen, or played, in the shapes that its file gives its links.

    It is viser's, with the camera, the time and the motion: one file that needs no network, of 0.8 MB and what the
    meshes take. What links look like is drawn, and of links without looks what they collide as, with the obstacles of
    the problem.

    Parameters
    ----------
    x : Model, ClosedChain, Solution or SequenceSolution
    shapes : sequence of LinkShape
        ``reading.shapes`` of `from_urdf` or `from_mjcf`; or meshes of your own, in OBJ, STL or DAE files.
    q : shape (n_q,), or (N, n_q) with t [rad, m], optional
        Posture of a model or of a chain, or a motion of it; a model is shown as it is placed, a chain as assembled.
    t : shape (N,) [s], optional
        Rising times of postures.
    slow : float, optional
        Duration of the play over that of the motion; by default real time, and three seconds for motions shorter than
        one.

    Returns
    -------
    Viewer
        Shown by notebooks as the last line of a cell; ``.save("robot.html")`` writes it.

    Raises
    ------
    ImportError
        Without viser, trimesh and pycollada, which ``pip install 'colloc[meshes]'`` brings.
    InputError
        For meshes that are not there, in another format or without triangles, by name; for shapes of bodies that the
        model does not have, and for whatever `view` refuses.

    See Also
    --------
    view : The mechanism without meshes, with its curves, forces and sliders.

    Examples
    --------
    >>> with open("blade.obj", "w") as file:
    ...     _ = file.write("v 0 0 0\\nv 1 0 0\\nv 0 0.1 0\\nv 0 0 0.1\\nf 1 3 2\\nf 1 2 4\\nf 2 3 4\\nf 1 4 3\\n")
    >>> blade = co.formats.LinkShape("elbow", "visual", "mesh", np.eye(4), {"filename": "blade.obj"}, ".")
    >>> co.plot.meshes(solution, [blade]).save("blade.html").name
    'blade.html'
    """
    if slow is not None:
        finite_number("slow", slow, positive=True)
    instance("x", x, Model | ClosedChain | Solution | SequenceSolution)
    if isinstance(x, Solution | SequenceSolution) and (q is not None or t is not None):
        raise InputError(f"q and t are postures of a Model or a ClosedChain, got them beside {quoted(x)}")
    listed = [instance("shape", shape, LinkShape) for shape in as_tuple("shapes", shapes)]
    drawn = [shape for shape in listed if shape.role == "visual"]
    seen = {shape.body for shape in drawn}
    drawn += [shape for shape in listed if shape.body not in seen]
    if all(shape.body is None for shape in drawn):
        raise InputError(
            "there is no shape of a body to be drawn: shapes are those of a Reading, by from_urdf or from_mjcf"
        )
    check_packages()
    check_files(drawn)
    bodies = tuple(dict.fromkeys(shape.body for shape in drawn if shape.body is not None))
    motion = _of_solution(x, bodies, slow) if isinstance(x, Solution | SequenceSolution) else _of_rows(x, q, t, bodies)
    return Viewer(_page(motion, bodies, [(shape, triangles(shape)) for shape in drawn], slow), motion.title)


def _pace(duration: float, slow: float | None) -> float:
    """Duration of the play over that of the motion."""
    return slow or (1.0 if duration > 0.999 else _SHORT / max(duration, 1e-3))


def _of_solution(solution: Solution | SequenceSolution, bodies: Sequence[str], slow: float | None) -> _MovedLinks:
    count = round(_RATE * solution.duration * _pace(solution.duration, slow))
    t = np.linspace(0.0, solution.duration, max(2, min(count, _MOST)) + 1)
    rows = []
    for phase, times in by_phase(solution, t):
        links = _links(phase.problem.model, phase.problem.instant.q, bodies)
        rows.append(phase.evaluate(lambda now, links=links: links, times))
    return _MovedLinks(title_of(solution), t, _stacked(rows), skeleton(solution, t))


def _of_rows(x: Model | ClosedChain, q: Any, t: Any, bodies: Sequence[str]) -> _MovedLinks:
    model, ties, times, rows = postures(x, q, t)
    symbol = ca.SX.sym("q", model.n_q)
    function = ca.Function("places", [symbol], [_links(model, symbol, bodies), places(model, symbol)])
    links, points = map(np.array, function.map(times.size)(rows.T))
    times = times - times[0]
    return _MovedLinks(model.name, times, _stacked([links.T]), skeleton_from(model, times, points, ties))


def _links(model: Model, q: ca.SX, bodies: Sequence[str]) -> ca.SX:
    """Transforms of links, row after row, one below the other."""
    names = [body.name for body in model.bodies]
    for body in bodies:
        if body not in names:
            raise unknown_name("body of a shape", body, names)
    still = ca.SX(model.n, 1)
    transforms = frames(model, q, still, still).position
    return ca.densify(ca.vertcat(*(ca.vec(transforms[names.index(body)].T) for body in bodies)))


def _stacked(rows: list[np.ndarray]) -> np.ndarray:
    values = np.concatenate([np.reshape(part, (len(part), -1)) for part in rows])
    return values.reshape(len(values), -1, 4, 4)


def _page(
    motion: _MovedLinks, bodies: Sequence[str], drawn: Sequence[tuple[LinkShape, list[Trimesh]]], slow: float | None
) -> str:
    """What viser shows of a scene and of the motion of its links."""
    import rich
    import viser
    from viser.transforms import SO3

    console = rich.get_console()
    console.quiet, before = True, console.quiet  # it says where its server is, which nobody is to visit
    server = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
    try:
        scene, links = server.scene, {}
        for body in bodies:
            links[body] = scene.add_frame(f"/{_node(body)}", show_axes=False)
        for number, (shape, parts) in enumerate(drawn):
            above = "" if shape.body is None else f"/{_node(shape.body)}"
            for k, part in enumerate(parts):
                scene.add_mesh_trimesh(f"{above}/shape {number}.{k}", part)
        for number, solid in enumerate(motion.figure.standing):
            scene.add_mesh_trimesh(f"/obstacle {number}", obstacle(solid))
        _aim(server, motion, bodies, drawn)
        recording = server.get_scene_serializer()
        spins = SO3.from_matrix(motion.frames[..., :3, :3]).wxyz
        steps = np.diff(motion.t, append=motion.t[-1]) * _pace(motion.t[-1], slow)
        for frame, spin, step in zip(motion.frames, spins, steps, strict=True):
            for link, transform, turn in zip(links.values(), frame, spin, strict=True):
                link.position, link.wxyz = transform[:3, 3], turn
            recording.insert_sleep(float(step))
        page = recording.as_html()
    finally:
        server.stop()
        console.quiet = before
    head = f'<head>\n<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
    title = f"<title>{escape(motion.title)}</title>"
    return page.replace("<head>", head, 1).replace("<title>Viser</title>", title, 1)


def _node(name: str) -> str:
    """A name in viser's tree, whose levels a stroke would part."""
    return name.replace("/", "\N{DIVISION SLASH}")


def _aim(
    server: Any, motion: _MovedLinks, bodies: Sequence[str], drawn: Sequence[tuple[LinkShape, list[Trimesh]]]
) -> None:
    """A camera that sees all of the motion, what is up, and a floor."""
    every = motion.frames[:: max(1, len(motion.frames) // _SEEN)]
    clouds = [shape.corners.reshape(-1, 3) for shape in motion.figure.standing]
    for shape, parts in drawn:
        frames = np.eye(4)[None] if shape.body is None else every[:, bodies.index(shape.body)]
        for part in parts:
            low, high = part.bounds
            corners = np.stack(np.meshgrid(*zip(low, high, strict=True)), axis=-1).reshape(-1, 3)
            clouds.append((corners @ frames[:, :3, :3].transpose(0, 2, 1) + frames[:, None, :3, 3]).reshape(-1, 3))
    points = np.concatenate(clouds)
    low, high = points.min(axis=0), points.max(axis=0)
    up, size, middle = motion.figure.vertical, float((high - low).max()), (low + high) / 2
    right, ahead = (up + 1) % 3, (up + 2) % 3
    way = np.zeros(3)
    way[[right, ahead, up]] = np.cos(_TILT) * np.cos(_TURN), np.cos(_TILT) * np.sin(_TURN), np.sin(_TILT)
    server.scene.configure_environment_map(environment_intensity=_AMBIENT)
    camera = server.initial_camera
    camera.fov, camera.up, camera.look_at = _ANGLE, tuple(np.eye(3)[up]), tuple(middle)
    camera.position = tuple(middle + 0.45 * np.linalg.norm(high - low) / np.sin(_ANGLE / 2) * way)
    server.scene.set_up_direction(tuple(np.eye(3)[up]))
    floor = middle.copy()
    floor[up] = min(0.0, low[up]) if low[up] <= _NEAR * size else low[up]
    cell = 10.0 ** np.floor(np.log10(size))
    server.scene.add_grid(
        "/floor", 4 * size, 4 * size, plane="xyzxy"[right : right + 2], position=tuple(floor),
        cell_size=cell / 5, section_size=cell,
    )  # fmt: skip
