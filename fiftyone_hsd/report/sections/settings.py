"""Settings and versions: what is needed to get the same numbers again."""

from __future__ import annotations

import dataclasses
import json
import shlex
from collections.abc import Mapping
from typing import Any

from ...model import AuditReport
from ...settings import Settings
from ..blocks import Block, Code, Column, Section, Table
from ..csv_files import split_files
from ..json_file import digests
from ..wording import many

MOST_DIGESTS = 60
LADDER = {"source_column": None, "sentinel": 0.0, "conditions": 5, "validation": "cross"}
"""Options of `hsd ladder` that an audit does not have."""
NOT_FOR_LABELS = ("models", "fractions", "truth")
FILES = (
    ("report.json", "everything this page says, for programs; digests of all files"),
    (
        "samples.csv",
        "each image with its group and its exposure under the split as published; failed images with the reason",
    ),
    ("groups.csv", "each image with its group, the sources behind it and its weakest link"),
    ("links.csv", "each link with its source, rule and score; also those turned down"),
    ("exposure.csv", "each image outside train, for each condition and seed"),
    (
        "exposing.csv",
        "each exposed image with up to 5 train images that expose it, and the evidence on the way; primary seeds",
    ),
    ("splits/all.csv", "each image's partition for each condition and seed"),
    ("effects.csv", "every number with interval, n and method"),
    ("runs.csv", "every trained model with its recipe and versions"),
)


def section(report: AuditReport) -> Section:
    """The command, the settings, the versions, the digests and the files."""
    rows = tuple((name, _text(value) or None) for name, value in sorted(report.settings.items()))
    versions = tuple(sorted(report.versions.items()))
    digest = digests(report)
    sums = [("samples", digest["samples"]), ("groups", digest["groups"])]
    sums += [(f"split {p['condition']}, seed {p['seed']}", p["sha256"]) for p in digest["plans"]]
    blocks: list[Block] = [
        Code(_commands(report), "To get the same numbers again, with the versions below:"),
        Table("Settings", (Column("setting"), Column("value")), rows),
        Table("Versions", (Column("package"), Column("version")), versions, folded=True),
        Table(
            "Digests",
            (Column("of"), Column("SHA-256 of canonical JSON", "path")),
            tuple(sums[:MOST_DIGESTS]),
            total=len(sums) if len(sums) > MOST_DIGESTS else 0,
            file="report.json",
            notes=("Equal digests mean equal samples (ids, labels, split, file contents), groups and splits.",),
            folded=True,
        ),
        _files(report),
    ]
    lead = f"{many(len(report.runs), 'model was', 'models were')} trained."
    return Section("settings", "Settings and versions", 90, lead, tuple(blocks))


def _commands(report: AuditReport) -> str:
    """One line a verb."""
    lines = [] if report.settings.get("verb") == "labels" else [_reproduce(report)]
    reading = {k: v for k, v in report.settings.items() if k not in NOT_FOR_LABELS}
    for issues in report.label_results:
        more = {"verb": "labels", "model": issues.model, "checks": [c.name for c in issues.checks] or None}
        lines.append(_reproduce(report, {**reading, **issues.options, **more}))
    lines += report.settings.get("training", [])
    return "\n".join(lines)


def _reproduce(report: AuditReport, asked: Mapping[str, Any] | None = None) -> str:
    """The command line that asks for the same; settings at their defaults are left out."""
    settings = dict(report.settings if asked is None else asked)
    source = str(settings.pop("source", report.samples.root))
    defaults = {
        f.name: f.default_factory() if f.default_factory is not dataclasses.MISSING else f.default
        for f in dataclasses.fields(Settings)
    }
    words = ["hsd", str(settings.pop("verb", "audit")), source]
    if words[1] == "ladder":
        defaults |= LADDER
        settings.pop("models", None)
    if words[1] == "labels":
        defaults |= dict.fromkeys(("model", "folds", "checks"))
    for name, value in sorted(settings.items()):
        if name not in defaults or _text(value) == _text(defaults[name]) or value is None:
            continue
        option = "--source" if name == "source_column" else "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            value = ",".join(f"{k}={v:g}" for k, v in value.items())
        if isinstance(value, bool):
            words.append(option if value else option.replace("--", "--no-", 1))
        else:
            words += [option, ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)]
    return shlex.join([*words, "--out", "OUT"])


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return json.dumps(value, sort_keys=True, default=lambda v: dict(v) if isinstance(v, Mapping) else str(v))


def _files(report: AuditReport) -> Table:
    files = list(FILES)
    files[7:7] = [(name, f"{condition}, primary seed") for condition, name in split_files(report).items()]
    if report.control_results:
        files.append(("controls.csv", "control experiments"))
    if report.label_results:
        files.append(("label_issues.csv", "each labelled image; likely errors first, then other suspicions"))
    if not report.plans:
        files = [f for f in files if f[0] != "splits/all.csv"]
    note = (
        "CSV files are UTF-8. Ids and labels stand there exactly as they are, also those that begin with =, +, - or @, "
        "which a spreadsheet may take for a formula: import the columns as text."
    )
    return Table(
        "Files beside this page", (Column("file", "path"), Column("what is in it")), tuple(files), notes=(note,)
    )
