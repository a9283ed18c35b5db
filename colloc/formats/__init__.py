"""Models from the files of other programs.

A format is a file with a function that returns a `Model`: `urdf` has `from_urdf`. What formats in XML share, elements,
texts and numbers with errors that say where they are, is in `xml`; a body with several joints becomes a chain by
`colloc.model.floating.joint_chain`.
"""

from colloc.formats.urdf import from_urdf

__all__ = ["from_urdf"]
