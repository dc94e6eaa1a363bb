"""Groups that are given: a column, a FiftyOne field, or a file of (path, group)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from ..model import Links


def metadata(values: ArrayLike, rule: str, source: str = "given") -> Links:
    """Links between the samples that carry the same value.

    Args:
        values: (n,) str, one value a sample; "" = the source is silent about it.
        rule: the rule in words, such as "column patient".
        source: name of the evidence source.

    Returns:
        m - 1 links for every value that m samples share.
    """
    names = np.asarray(values, np.str_)
    codes = np.unique(names, return_inverse=True)[1].astype(np.int64)
    codes[names == ""] = -1
    return Links.from_codes(codes, source, rule)
