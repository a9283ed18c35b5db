"""Solutions as files: saved, loaded, and given to other programs as tables.

fingerprint    what of a problem a file remembers, to say in what another one differs
schema         the records of a file, and what may stand in them
archive        records and arrays in an .npz file
stored_motion  one motion
stored_phases  a motion in phases
storage        save, load, tables for other programs
"""

from colloc.storage.storage import load, save, to_csv, to_dataframe

__all__ = ["load", "save", "to_csv", "to_dataframe"]
