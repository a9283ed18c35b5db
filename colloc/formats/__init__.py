"""Models from the files of other programs, and the way back.

Every reader returns a `Reading`: a model, what else the file says, and a report of what was changed and left out
(`reading`). `urdf` and `srdf` read robots, `urdf_writer` writes them, `mjcf` reads MuJoCo's files by MuJoCo. What
formats in XML share, elements, texts and numbers with errors that say where they are, is in `xml`; a body with several
joints becomes a chain by `colloc.model.floating.joint_chain`.
"""

from colloc.formats.mjcf import from_mjcf
from colloc.formats.reading import LinkShape, Reading
from colloc.formats.urdf import from_urdf
from colloc.formats.urdf_writer import to_urdf

__all__ = ["LinkShape", "Reading", "from_mjcf", "from_urdf", "to_urdf"]
