"""Corpora without dependence: how often an audit finds a group, and how often an interval excludes 0.

    python tests/benchmarks/null_corpora.py [corpora] [images a corpus]

Prints one line a corpus and a summary; the nominal level of the intervals is 95 %.
"""

from __future__ import annotations

import sys
import tempfile
import time

from fiftyone_hsd import audit
from fiftyone_hsd.drawn import INDEPENDENT, draw


def main(corpora: int = 100, images: int = 120) -> None:
    found, covered, total = 0, 0, 0
    start = time.perf_counter()
    for seed in range(corpora):
        with tempfile.TemporaryDirectory() as folder:
            report = audit(draw(folder, INDEPENDENT, seed=seed, patients=images, side=48))
        found += int((report.grouping.sizes > 1).any())
        for e in report.effects:
            if e.what == "inflation" and e.condition == "random" and e.seed is None and not e.class_name:
                total += 1
                covered += e.low <= 0 <= e.high
                print(f"{seed} {e.model} {e.metric} {e.estimate:+.3f} ({e.low:+.3f} to {e.high:+.3f})", flush=True)
    seconds = (time.perf_counter() - start) / corpora
    print(f"{corpora} corpora of {images} images: {found} with a group of two or more; {covered} of {total} intervals")
    print(f"of the inflation from intact to random cover 0 (nominal 95 %); {seconds:.1f} s a corpus")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:3]))
