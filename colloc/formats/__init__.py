"""Models from the files of other programs: URDF (`urdf`)."""

from colloc.formats.urdf import from_urdf

__all__ = ["from_urdf"]
