"""A backend of matplotlib for tests: windows note their figures in a list when they are shown, and close."""

from matplotlib import pyplot as plt
from matplotlib.backend_bases import FigureManagerBase
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

shown: list[Figure] = []


class FigureManager(FigureManagerBase):
    """A window that is closed at once."""

    @classmethod
    def start_main_loop(cls) -> None:
        """Until all windows are closed."""
        plt.close("all")

    def show(self) -> None:
        """Note the figure."""
        shown.append(self.canvas.figure)


class FigureCanvas(FigureCanvasAgg):
    """The canvas."""

    manager_class = FigureManager  # pyright: ignore[reportAssignmentType]
