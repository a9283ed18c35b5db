"""Things that every room uses: validation, tables as text, files, threads and interrupts, pickling, progress.

checks      values validated, numbers or symbols; InputError and InputWarning
arguments   arguments of functions validated before these run
packages    packages as their users see them: the public names
named       attributes under names that users give
threads     computations of other threads end with the main one
interrupts  Ctrl-C that is not lost on the way
lazy        attributes computed on first use, once for all threads
pickling    objects made of symbols and functions as bytes, for other processes
display     tables as text and HTML
progress    a line that shows how far a long run is
files       writing files: complete or absent
version     the version of the package
"""

from colloc.support.checks import InputError, InputWarning

__all__ = ["InputError", "InputWarning"]
