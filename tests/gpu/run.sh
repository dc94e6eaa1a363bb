#!/usr/bin/env bash
# The GPU path on a machine with one: agreement with the CPU, then timings. About 8 minutes; needs torch with CUDA.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
python="${PYTHON:-python}"

nvidia-smi --query-gpu=name,memory.total,driver_version --format=csv,noheader
HSD_TEST_REQUIRE=gpu PYTHONPATH=. timeout 240 "$python" -m pytest tests/test_similarity_torch.py tests/test_similarity_faiss.py -q
PYTHONPATH=. timeout 300 "$python" tests/gpu/compare.py "$@"
