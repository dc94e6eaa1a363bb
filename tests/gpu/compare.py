"""Pairs and neighbours on the GPU and on the CPU: the same pairs, similarities within 1e-4, and how long each took.

python tests/gpu/compare.py [--out FILE]
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np

from fiftyone_hsd.similarity import choose, find, neighbours

SIZES = ((5_000, 512), (20_000, 512), (129_173, 512))
CPU_UP_TO = 20_000
LARGE = (1_000_000, 384)


def corpus(n: int, dim: int) -> np.ndarray:
    """Unit float32 rows, a fifth of which are near copies of an earlier one."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((n, dim), dtype=np.float32)
    copies = rng.choice(n // 2, n // 5, replace=False) + n // 2
    x[copies] = x[copies - n // 2] + 0.3 * x[copies]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return x


def compare(n: int, dim: int, device: str) -> dict[str, Any]:
    x = corpus(n, dim)
    begin = time.perf_counter()
    found = find(x, 0.9, device=device)
    result: dict[str, Any] = {"n": n, "dim": dim, "device": device, "pairs": len(found.i), "backend": found.backend}
    result["pairs_seconds"] = time.perf_counter() - begin
    if n <= LARGE[0] // 2:
        begin = time.perf_counter()
        similarity, index = neighbours(x, 10, device=device)
        result["neighbours_seconds"] = time.perf_counter() - begin
    if n <= CPU_UP_TO:
        truth = find(x, 0.9, device="cpu")
        s, i = neighbours(x, 10, device="cpu")
        np.testing.assert_array_equal(found.i, truth.i)
        np.testing.assert_array_equal(found.j, truth.j)
        np.testing.assert_allclose(found.similarity, truth.similarity, atol=1e-4)
        np.testing.assert_allclose(similarity, s, atol=1e-4)
        np.testing.assert_array_equal(index, i)
        result["agrees with the CPU"] = True
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    print(choose("gpu"))
    rows = [compare(n, dim, "gpu") for n, dim in (*SIZES, LARGE)]
    for row in rows:
        print(json.dumps(row))
    if given.out:
        given.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
