"""Packages that pybpe can do without: they are there, or it says what to install.

Missing is only what is not installed. A package that is there and cannot be imported,
because it is broken or lacks another one, shows its own error.
"""

from __future__ import annotations

from pybpe._typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any


def optional(name: str) -> Any:
    """Import a module of a package that need not be there; None if it is not.

    Raises:
        ImportError: It is there, and cannot be imported.
    """
    from importlib import import_module

    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        return None


def required(name: str, purpose: str, extra: str) -> Any:
    """Import a module of a package that what was asked for needs.

    Args:
        name: The module.
        purpose: What needs it, to be said if it is not there.
        extra: The extra of pybpe that installs it.

    Raises:
        ImportError: It is not there, or cannot be imported.
    """
    module = optional(name)
    if module is None:
        package = name.partition(".")[0]
        raise ImportError(
            f"{purpose} needs {package}, which is not installed: "
            f"pip install 'pybpe[{extra}]'",
            name=name,
        )
    return module


def need_numpy(purpose: str = "this method") -> Any:
    """Import numpy for what gives or takes arrays; raises `ImportError` without it."""
    return required("numpy", purpose, "numpy")
