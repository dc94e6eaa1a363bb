#!/usr/bin/env bash
# Style, types, tests, with the interpreter that PYTHON names. Arguments go to one plain pytest.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
python="${PYTHON:-python}"
case "$python" in */*) python="$(cd "$(dirname "$python")" && pwd)/$(basename "$python")" ;; esac

"$python" -m ruff check .
"$python" -m ruff format --check .
"$python" -m mypy
if [ $# -gt 0 ]; then
  exec "$python" -m pytest "$@"
fi
# Browser tests have the machine to themselves: a page that is slow to answer fails them. The rest shares two cores.
failed=0
"$python" -m pytest -n 2 --dist loadfile --benchmark-disable -m "not browser" || failed=$?
"$python" -m pytest -m browser || failed=$?
exit "$failed"
