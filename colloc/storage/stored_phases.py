"""What a saved motion in phases is made of: an archive for each of its phases, and what holds across them."""

from __future__ import annotations

import numpy as np

from colloc.problem import Sequence
from colloc.solution.sequence import SequenceSolution
from colloc.storage.archive import Archive, read_inner
from colloc.storage.fingerprint import links_fingerprint
from colloc.storage.schema import PHASE, check_phases, check_sizes, ladder_from
from colloc.storage.stored_motion import (
    check_same,
    check_totals,
    judged,
    largest_of,
    motion_archive,
    motion_from,
    packed,
    stored_answer,
    stored_history,
    stored_outcome,
)
from colloc.support.checks import InputError
from colloc.transcription.sequence import SequenceNLP


def phases_archive(solution: SequenceSolution) -> bytes:
    """A solution as the bytes of an archive: "phase_0", "phase_1", ... are the bytes of the phases' own archives.

    Multipliers "lam_g" are those of the rows across phases, which come after all others.
    """
    inner = {
        f"{PHASE}{k}": np.frombuffer(motion_archive(own), np.uint8) for k, own in enumerate(solution.phases.values())
    }
    known = sum(int(held.sum()) for held in solution.nlp.imposed.values())
    arrays = inner | {"lam_g": solution.multipliers["g"][known:], **stored_history(solution)}
    meta = stored_answer(solution) | {"phases": list(solution.phases)}
    return packed(arrays, meta, links_fingerprint(solution.problem))


def phases_from(name: str, archive: Archive, problem: Sequence) -> SequenceSolution:
    """The solution of a sequence that an archive holds.

    Parameters
    ----------
    name : str
        The file's, for messages.
    archive : Archive
    problem : Sequence

    Raises
    ------
    InputError
        As `load` does; where something is wrong with a phase it names that as well.
    """
    arrays, meta, _, _ = archive
    check_phases(name, arrays, meta)
    if meta["phases"] != list(problem.phases):
        raise InputError(f"{name!r} was saved for phases {meta['phases']}, the sequence has {list(problem.phases)}")
    check_same(name, arrays["fingerprint"], meta["fingerprint"], links_fingerprint(problem))
    titles = [f"{name} (phase {phase})" for phase in problem.phases]
    inner = read_inner(archive, {title: arrays[f"{PHASE}{k}"].tobytes() for k, title in enumerate(titles)})
    found = {}
    for title, own, (phase, stated) in zip(titles, inner, problem.phases.items(), strict=True):
        if own.meta.get("schema") == 1:
            raise InputError(f"{title!r} has schema version 1, which knew no phases")
        found[phase] = motion_from(title, own.arrays, own.meta, stated)
    parameters = next(iter(found.values())).parameters
    if not all(np.array_equal(own.parameters, parameters) for own in found.values()):
        raise InputError(f"{name!r}: its phases must have the same values of parameters")
    nlp = SequenceNLP(problem, {phase: own.nlp for phase, own in found.items()})
    check_sizes(name, rows=(arrays["lam_g"].size, nlp.n_g - sum(int(held.sum()) for held in nlp.imposed.values())))
    whole = {
        "x": np.concatenate([own.x for own in found.values()]),
        "lam_x": np.concatenate([own.multipliers["x"] for own in found.values()]),
        "lam_g": np.concatenate(
            [*(own.multipliers["g"][nlp.imposed[phase]] for phase, own in found.items()), arrays["lam_g"]]
        ),
    }
    outcome = judged(nlp, parameters, stored_outcome({**arrays, **whole}, meta))
    largest = 10 * sum(largest_of(own.arrays) for own in inner)
    solution = SequenceSolution(
        nlp, outcome, parameters, ladder_from(name, meta["ladder"], largest, phases=problem.phases)
    )
    check_totals(name, solution, meta)
    return solution
