"""How close encoding comes to its bound: decoding all images plus the forward passes, on the same cores, nothing else.

python tests/benchmarks/bench_encoding.py FOLDER [--n 600] [--descriptor timm_model]
"""

from __future__ import annotations

import argparse
import os
import resource
import time
from concurrent.futures import ThreadPoolExecutor

from fiftyone_hsd.descriptors import by_name
from fiftyone_hsd.encoding import BATCH, encode
from fiftyone_hsd.folder import from_folder
from fiftyone_hsd.images import read_image


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder")
    options.add_argument("--n", type=int, default=600)
    options.add_argument("--descriptor", default="timm_model")
    given = options.parse_args()
    paths = from_folder(given.folder).paths[: given.n]
    describe = by_name(given.descriptor)
    prepared = [describe.prepare(read_image(p)) for p in paths[:BATCH]]
    describe.encode(prepared)
    begin = time.perf_counter()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ready = list(pool.map(lambda p: describe.prepare(read_image(p)), paths))
    decoding = time.perf_counter() - begin
    begin = time.perf_counter()
    for start in range(0, len(ready), BATCH):
        describe.encode(ready[start : start + BATCH])
    forward = time.perf_counter() - begin
    del ready
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    encode(paths, describe)
    spent = time.perf_counter() - begin
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    bound = decoding + forward
    print(f"{len(paths)} images, load {os.getloadavg()[0]:.1f}: decode {decoding:.2f} s, forward {forward:.2f} s")
    print(f"encode {spent:.2f} s, {len(paths) / spent:.0f} images/s, {bound / spent:.2f} of the bound, +{peak:.0f} MiB")


if __name__ == "__main__":
    main()
