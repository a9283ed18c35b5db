"""Arrays whose last axis is that of the joints, which know their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from colloc.support.checks import InputError, quoted, unknown_name


class ByJoint(np.ndarray):
    """Values of all joints, shape (..., n), in the order of q; `tau["elbow"]` are those of one, shape (...,).

    After other indices as well: `tau[0, "elbow"]`.

    In all else an array as any other: what is sliced or computed from it is a plain ndarray.
    """

    joints: tuple[str, ...]

    def __new__(cls, values: np.ndarray, joints: Sequence[str]) -> ByJoint:
        found = np.asarray(values).view(cls)
        found.joints = tuple(joints)
        return found

    def __array_finalize__(self, source: Any) -> None:
        self.joints = ()  # a view or a copy may have other columns

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        return array[()] if return_scalar else np.asarray(array)

    def __getitem__(self, key: Any) -> Any:
        parts = key if isinstance(key, tuple) else (key,)
        if not any(isinstance(part, str) for part in parts):
            return np.asarray(self)[key]
        *before, joint = parts
        if not isinstance(joint, str) or any(isinstance(part, str) for part in before):
            raise InputError(f'the name of a joint stands alone or last, as in tau[0, "elbow"], got {quoted(key)}')
        if not self.joints:
            raise InputError(f"an array made of another one does not know joints by name, got {quoted(key)}")
        if joint not in self.joints:
            raise unknown_name("joint", joint, self.joints)
        return np.asarray(self)[..., self.joints.index(joint)][tuple(before)]

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.joints)

    def __reduce__(self) -> tuple[Any, ...]:
        return ByJoint, (np.asarray(self), self.joints)
