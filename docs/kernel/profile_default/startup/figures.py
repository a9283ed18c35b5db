"""Figures that are the value of a cell's last line become its picture, and warnings are errors."""

import warnings

from IPython.core.pylabtools import print_figure
from matplotlib.figure import Figure

png = get_ipython().display_formatter.formatters["image/png"]  # noqa: F821
png.for_type(Figure, lambda figure: print_figure(figure, "png", dpi=110))
for category in (UserWarning, RuntimeWarning):
    warnings.simplefilter("error", category)
