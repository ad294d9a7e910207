"""`TYPE_CHECKING` without the module `typing`.

Importing that one takes 6 ms, a good part of what loading a model takes in a fresh
process. So the modules that loading needs import from it for type checkers only, which
know the constant by its name.
"""

from __future__ import annotations

TYPE_CHECKING = False
