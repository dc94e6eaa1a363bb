#!/usr/bin/env bash
# The GPU path on a machine with one: agreement with the CPU, then timings. About 12 minutes; needs torch with CUDA, timm and accelerate.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python="${PYTHON:-python}"

nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
HSD_TEST_REQUIRE=gpu PYTHONPATH=. timeout 240 "$python" -m pytest tests/test_similarity_torch.py tests/test_similarity_faiss.py -q
PYTHONPATH=. timeout 300 "$python" tests/gpu/compare.py "$@"

# Training: the same promises on the GPU, then throughput against a bare loop, and a grid that is killed again and again.
HSD_TEST_REQUIRE=gpu,train PYTHONPATH=. timeout 240 "$python" -m pytest tests/trainers/test_timm_finetune.py tests/launch -q -k "not identical and not limits and not memory"
for model in lite0 vit resnet50; do
  PYTHONPATH=. timeout 120 "$python" tests/benchmarks/bench_training.py --model "$model" --size 224 --batch 64 --steps 30
done
PYTHONPATH=. timeout 240 "$python" tests/benchmarks/kill_grid.py --kills 3
