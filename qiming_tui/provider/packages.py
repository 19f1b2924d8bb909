"""Where installed packages keep their data files, found without importing the packages."""

import importlib.util
from pathlib import Path


def package_dir(name: str) -> Path | None:
    """Folder of the installed top-level package `name`; None if it is not installed. Imports nothing."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))
