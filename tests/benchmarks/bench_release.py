"""CPU seconds and peak memory of export and verify for N samples, five conditions and five seeds; no images are needed.

python tests/benchmarks/bench_release.py [N]
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from fiftyone_hsd import export, verify
from fiftyone_hsd.exposure import exposure
from fiftyone_hsd.model import AuditReport, Grouping, Links, Samples, Scan, SplitPlan
from fiftyone_hsd.report.stored import store_report
from fiftyone_hsd.splitting import ladder


def report_of(n: int) -> AuditReport:
    """A report over n samples in groups of about nine, 14 classes, without models."""
    rng = np.random.default_rng(0)
    sizes = np.maximum(1, np.round(rng.lognormal(1.75, 0.9, n // 6)).astype(int))
    codes = np.repeat(np.arange(len(sizes)), sizes)[:n]
    labels = rng.choice(14, len(sizes), p=np.geomspace(1, 0.05, 14) / np.geomspace(1, 0.05, 14).sum())[codes]
    n = len(codes)
    ids = tuple(f"class{c}/patient{g:06d}_{i:07d}.png" for i, (c, g) in enumerate(zip(labels, codes, strict=True)))
    classes = tuple(f"class{c}" for c in range(14))
    samples = Samples(ids, tuple(f"/corpus/{i}" for i in ids), labels, classes, np.full(n, ""), {}, "/corpus")
    content = tuple(f"{i:064x}" for i in range(n))
    plans: list[SplitPlan] = []
    for seed in range(5):
        plans += ladder(labels, codes, {"train": 0.7, "val": 0.15, "test": 0.15}, seed=seed, ids=ids)
    grouping = Grouping(codes, Links.from_codes(codes, "given", "column patient"))
    return AuditReport(
        samples=samples,
        failures=(),
        scan=Scan(content, content, ("",) * n, np.full(n, 64), np.full(n, 64)),
        grouping=grouping,
        plans=tuple(plans),
        exposures=tuple(exposure(p, grouping) for p in plans),
        runs=(),
        effects=(),
        settings={"source": "/corpus", "seeds": 5},
        versions={},
        verdict="drawn",
    )


if __name__ == "__main__":
    size = int(sys.argv[1]) if len(sys.argv) > 1 else 130_000
    with tempfile.TemporaryDirectory() as folder:
        out, to = Path(folder, "out"), Path(folder, "to")
        made = report_of(size)
        store_report(made, out)
        print(f"{len(made.samples)} samples, {len(made.plans)} plans")
        for name, call in (("export", lambda: export(out, to)), ("verify", lambda: verify(to))):
            start = time.process_time()
            result = call()
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
            print(f"{name}: {time.process_time() - start:.1f} s of CPU, peak of the process {peak:.2f} GiB", flush=True)
        assert result.holds, [c for c in result.checks if c.differs]
        print(f"release: {sum(p.stat().st_size for p in to.rglob('*') if p.is_file()) / 2**20:.0f} MiB")
