"""Tools for all packages: validation, tables as text, files, threads and interrupts, pickling, progress.

checks      values validated, numbers or symbols; InputError and InputWarning
arguments   arguments of functions validated before these run
packages    packages with public names that load on first use
named       attributes with users' names
threads     computations of other threads end with the main one
interrupts  Ctrl-C that is not lost in long computations
lazy        attributes computed on first use, once for all threads
pickling    objects made of symbols and functions as bytes, for other processes
display     tables as text and HTML
progress    the progress of long runs
stopwatch   the seconds of a call by part
files       writing files: complete or absent
version     the version of the package
"""

from colloc.support.checks import InputError, InputWarning

__all__ = ["InputError", "InputWarning"]
