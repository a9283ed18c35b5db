"""Where a solver starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np


class Start(NamedTuple):
    """A decision vector to start from, and what is known of it.

    Parameters
    ----------
    x : ndarray, shape (n_x,)
        Within the bounds of the variables.
    multipliers : mapping of str to ndarray, optional
        "g" of the constraint rows and "x" of the variable bounds, of an optimum close by.
    near : bool
        Whether x is an optimum of the same problem on another grid.
    bounds : (ndarray, ndarray), optional
        Narrower lower and upper bounds of the variables, none of which they fix.
    """

    x: np.ndarray
    multipliers: Mapping[str, np.ndarray] | None = None
    near: bool = False
    bounds: tuple[np.ndarray, np.ndarray] | None = None
