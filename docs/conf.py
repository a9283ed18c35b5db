"""Sphinx configuration: ``python -m sphinx -j 2 -W --keep-going docs docs/build/html`` builds the pages, offline."""

import os
import sys
from pathlib import Path

import colloc

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))

project = "colloc"
author = copyright = "The colloc authors"
version = release = colloc.__version__
html_title = f"colloc {release}"

extensions = [
    "myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode", "numpydoc", "sphinx_copybutton",
    "sphinx_design",
    "downloads", "findable", "gallery", "links", "mathml", "menu", "reference", "tables",
]  # fmt: skip
exclude_patterns = ["build", "kernel", "paper"]
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"
html_show_sphinx = False

# Every cell of every page runs, in this order and from nothing; an exception or a warning fails the build.
nb_execution_mode = os.environ.get("DOCS_EXECUTION", "auto")
nb_execution_raise_on_error = False  # a warning, and with -W the build fails once all pages have run
nb_execution_timeout = 300
nb_output_stderr = "remove"  # progress of long solves; warnings are exceptions in kernel/
nb_mime_priority_overrides = [("html", "image/png", 0)]
os.environ.setdefault("MPLBACKEND", "Agg")  # kernel/ shows figures that are the last line of a cell, once
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["IPYTHONDIR"] = str(HERE / "kernel")
os.environ["PYDEVD_DISABLE_FILE_VALIDATION"] = "1"

myst_enable_extensions = ["amsmath", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

default_role = "py:obj"
nitpicky = (
    True  # a name of colloc that does not exist fails the build; the rest is left alone in extensions/reference.py
)
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 80
numpydoc_show_class_members = False
numpydoc_xref_param_type = False
copybutton_prompt_text = r">>> |\.\.\. "
copybutton_prompt_is_regexp = True

# ``DOCS_ONLINE=1 python -m sphinx -b linkcheck docs docs/build/links`` asks the hosts of links to elsewhere as well.
linkcheck_ignore = [r"http://127\.0\.0\.1"] if os.environ.get("DOCS_ONLINE") else [r"https?://"]
