"""What the system says about this process."""

from __future__ import annotations

import sys
from pathlib import Path


def peak_memory() -> int | None:
    """Return the most memory that was resident at once so far, in bytes.

    None where the system does not say.
    """
    try:
        # Linux: unlike getrusage, this starts anew when a program is executed.
        for line in Path("/proc/self/status").read_bytes().splitlines():
            if line.startswith(b"VmHWM:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:
        import resource
    except ImportError:
        return None
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024
