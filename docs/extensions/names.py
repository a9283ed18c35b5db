"""Public names of the library, grouped as the reference lists them."""

import inspect

import colloc as co

# What users reach through the package, and packages whose names they reach through these.
TITLES = {
    "model": "Mechanisms",
    "problem": "Problems",
    "transcription": "Curves and guesses",
    "solve": "Solving",
    "solution": "Answers",
    "sweeps": "Many solves",
    "kernels": "Compiled code",
    "evaluator": "The evaluator",
    "support": "Errors",
}
JOINED = {
    "curves": "transcription",
    "formats": "model",
    "refinement": "solve",
    "errors": "solution",
    "solver": "solve",
    "storage": "solution",
}


def public(module: object) -> list[str]:
    """Public names of a module: those it lists, or those it defines."""
    listed = getattr(module, "__all__", None)
    if listed is not None:
        return sorted(listed)
    defined = vars(module).items()
    return sorted(
        name for name, value in defined if name[0] != "_" and getattr(value, "__module__", "") == module.__name__
    )


def groups() -> dict[str, tuple[str, list[str]]]:
    """Title and full names of every group, by the name of its page."""
    found: dict[str, tuple[str, list[str]]] = {key: (title, []) for key, title in TITLES.items()}
    for name in public(co):
        value = getattr(co, name)
        if inspect.ismodule(value):
            about = (inspect.getdoc(value) or "").partition("\n")[0].rstrip(".")
            found[name] = (
                f"co.{name}: {about[0].lower()}{about[1:]}",
                [f"{value.__name__}.{n}" for n in public(value)],
            )
            continue
        layer = value.__module__.split(".")[1]
        key = JOINED.get(layer, layer)
        found.setdefault(key, (key.capitalize(), []))[1].append(f"colloc.{name}")
    return {key: group for key, group in found.items() if group[1]}
