"""The ViT-B/16 and ResNet-50 recipes at the endpoints of the ladder, a few steps, weights in a local file.

    python tests/benchmarks/presets.py --steps 2 --size 96 --out FOLDER

The weights are untrained: this shows that the whole way works on a CPU and what a step costs, not what is learned.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from fiftyone_hsd import train
from fiftyone_hsd.drawn import SMALL, draw
from fiftyone_hsd.trainers._recipes import NETWORKS


def main() -> None:
    """Draw a corpus, write weights, train, print runs.csv."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=2)
    parser.add_argument("--size", type=int, default=96)
    parser.add_argument("--batch", type=int, default=4)
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    import timm
    from safetensors.torch import save_file

    models = []
    for name in ("vit", "resnet50"):
        state = timm.create_model(NETWORKS[name], pretrained=False).state_dict()
        file = given.out / f"{name}.safetensors"
        given.out.mkdir(parents=True, exist_ok=True)
        save_file({k: v.contiguous() for k, v in state.items()}, file)
        models.append(f"{name}@{file}")
    images = draw(given.out / "drawn", SMALL)
    options = {"steps": given.steps, "size": given.size, "batch": given.batch, "validations": 1}
    train(
        images, out=given.out / "audit", groups=images.parent / "truth.csv", models=models, conditions="intact,random",
        seeds=1, options=options, announce=print,
    )  # fmt: skip
    with (given.out / "audit" / "runs.csv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            print({k: row[k] for k in ("model", "condition", "seed", "status", "seconds", "peak_memory", "notes")})


if __name__ == "__main__":
    main()
