"""How much memory this process took at most."""

from __future__ import annotations

import sys


def peak_memory() -> float:
    """Bytes: of the GPU if torch used one, else of the process; nan where neither can be told."""
    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and torch.cuda.is_initialized():
        return float(torch.cuda.max_memory_allocated())
    try:
        import resource
    except ImportError:
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak if sys.platform == "darwin" else 1024 * peak)
