"""Equations against unknowns: what no solver can meet is refused before it starts."""

from __future__ import annotations

import numpy as np

from colloc.support.checks import InputError
from colloc.transcription.nlp import BaseNLP


def check_freedoms(nlp: BaseNLP) -> None:
    """InputError for an NLP with more equations than unknowns, with the constraints that make them."""
    counts = {}
    for block in nlp.constraints:
        if equal := int(np.count_nonzero(block.rows.lower == block.rows.upper)) * block.n_slices:
            name = nlp.owner(block)[0] + block.name
            counts[name] = counts.get(name, 0) + equal
    equations, unknowns = sum(counts.values()), int(np.count_nonzero(nlp.free))
    if equations > unknowns:
        most = sorted(counts, key=lambda name: -counts[name])
        stated = ", ".join(f"{counts[name]} of {name!r}" for name in most)
        raise InputError(
            f"{equations} equations ({stated}) for {unknowns} unknowns on {nlp.described_curve}: an equation along the "
            "path settles as much as a joint has; leave out equations or end conditions that follow from the others"
        )
