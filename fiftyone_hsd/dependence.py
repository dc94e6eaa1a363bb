"""When a grouping cannot show dependence at all, and why. That is never the same as a clean data set."""

from __future__ import annotations

import numpy as np

from .model import Grouping, Samples

GIANT = 0.5
"""Share of all images in one group above which whole groups cannot be dealt to partitions (our choice)."""


def undetectable(samples: Samples, grouping: Grouping) -> str:
    """Why no dependence can be detected with these groups, in words; "" = it can.

    Three cases (the method's 4.10): no group of two or more, one giant group, one group a class.
    """
    sizes, n = grouping.sizes, len(samples)
    if not (sizes > 1).any():
        return f"none of the {n} images shares a group with another by the sources used"
    if sizes.max() > GIANT * n:
        return f"one group holds {int(sizes.max())} of {n} images"
    use = (samples.labels >= 0) & (grouping.codes >= 0)
    if use.any():
        pairs = np.unique(np.stack([samples.labels[use].astype(np.int64), grouping.codes[use]]), axis=1)
        if (np.bincount(pairs[0])[np.unique(pairs[0])] == 1).all():
            return "each class is one group, so classes and groups cannot be told apart"
    return ""
