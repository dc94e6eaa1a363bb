"""The verb `controls`: control experiments on a folder, a CSV or a FiftyOne view, added to one report."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .audit import is_dataset_name, read, source_name, versions
from .audit_groups import find_groups
from .control_settings import ControlSettings
from .controls import Outcome, Study, by_name, names
from .controls._cost import fast_seconds
from .controls._experiment import CellError
from .controls._gallery import Gallery
from .controls._given_away import given_away
from .controls._study import study
from .errors import EmptyError, PathError, StaleError, StoreError
from .model import AuditReport, Bools, Grouping, Note, Samples, Scan
from .progress import Progress, guarded
from .scan import scan
from .settings import Settings

__all__ = ["controls", "given_away"]

ALL = "all"
ALONE = "audit"
"""Topic of the note of a report without an audit."""
READ = ("label_field", "split_field", "group_field")
"""What a report says about how its samples were read."""
FIRST = ("full_picture", "eight_pixels", "background_crop", "border_strip", "constant")
"""The order of reading: the reference, the cheapest control, then those without the object."""


def controls(
    source: Any,
    *,
    masks: Mapping[str, Bools] | None = None,
    out: str | Path | None = None,
    progress: Progress | None = None,
    **settings: Any,
) -> AuditReport:
    """Is the benchmark measuring the object at all? Control experiments of Dhar & Shamir (2021) and their successors.

    Args:
        source: an image folder, a CSV file, `fiftyone:NAME`, a FiftyOne dataset or view, Samples, or a report, whose
            samples, labels and groups are taken as they were and which keeps its results.
        masks: sample id -> bool (h, w), the pixels of objects; they replace Otsu's threshold and boxes. A FiftyOne
            segmentation named as `objects_field` is read by itself.
        out: folder for controls.csv and the report; a report of an audit of the same images that is there already is
            kept and gets the controls added.
        progress: `progress(done, total, label)`; its failures never end a run.
        settings: fields of `ControlSettings`.

    Returns:
        an AuditReport with `control_results`, `control_runs` and `control_sheets`.

    Raises:
        InputError, PathError, FieldError: what was given cannot be used.
        EmptyError: no usable labelled image is left.
        InfeasibleError: there is no split to train on.
        StaleError: images of a report can no longer be read.
        StoreError: `out` cannot be written.
    """
    options = ControlSettings.of(settings)
    wanted = chosen(options.control)
    tell = guarded(progress)
    base = source if isinstance(source, AuditReport) else None
    if base is None and masks is None:
        masks = _segmentation(source, options)
    samples, found, failures, grouping = _corpus(source, options, masks is not None, out, tell)
    state = None if out is None else Path(out) / ".hsd" / "control_runs"
    made = study(samples, found, grouping, options, Gallery.of(samples, found))
    made = dataclasses.replace(made, state=state, masks=masks)
    outcomes = run_controls(made, wanted, tell)
    before = _stored(made.samples, made.scan, None if out is None else Path(out)) or base or _new(made, failures)
    report = _joined(before, made, outcomes)
    if base is None:
        report = dataclasses.replace(report, settings={**report.settings, "source": source_name(source)})
    if out is not None:
        from .report import write
        from .report.stored import forget_report, store_report

        tell(0, 0, "writing the report")
        forget_report(out)
        write(report, Path(out))
        store_report(report, out)
    return report


def _segmentation(source: Any, options: ControlSettings) -> Mapping[str, Bools] | None:
    """The masks of a FiftyOne segmentation that was named as the field of objects; None = there is none."""
    if options.objects_field is None or isinstance(source, Samples):
        return None
    named = isinstance(source, (str, Path))
    if named and not is_dataset_name(source):
        return None
    from .dataset import load, object_masks

    view = load(str(source).removeprefix("fiftyone:")) if named else source
    return object_masks(view, options.objects_field)


def _corpus(
    source: Any, options: ControlSettings, masked: bool, out: str | Path | None, tell: Progress
) -> tuple[Samples, Scan, tuple[Any, ...], Grouping]:
    """The usable samples with two classes or more, what the pass over their files found, failures and groups."""
    tell(0, 0, "reading the list of files")
    cache = None if out is None else Path(out) / ".hsd" / "scan"
    columns = [c for c in options.columns if not (masked and c == options.objects_field)]
    known = isinstance(source, AuditReport)
    samples = source.samples if known else read(source, _audit_settings(options), columns)
    found, _ = scan(samples, cache=cache, progress=tell)
    failures = tuple((samples.ids[i], samples.paths[i], found.failure[i]) for i in np.flatnonzero(~found.usable))
    if known and failures:
        raise StaleError(f"{len(failures)} audited images can no longer be read", advice="repeat the audit")
    samples, found = samples.take(found.usable), found.take(found.usable)
    if len(samples.classes) < 2 or len(np.unique(samples.labels[samples.labels >= 0])) < 2:
        raise EmptyError(
            f"{len(samples)} usable images with {len(samples.classes)} classes", "labelled images of two classes"
        )
    if known:
        return samples, found, source.failures, source.grouping
    return samples, found, failures, find_groups(samples, found, _audit_settings(options), tell)


def chosen(control: Sequence[str]) -> list[str]:
    """The experiments to run, in reading order.

    Raises:
        FieldError: there is no such experiment.
    """
    asked = [c.replace("-", "_") for c in control]
    there = [c for c in FIRST if c in names()] + [c for c in names() if c not in FIRST]
    if ALL in asked:
        return there
    for name in asked:
        by_name(name)
    return [c for c in there if c in asked]


def run_controls(made: Study, wanted: Sequence[str], progress: Progress) -> list[Outcome]:
    """Run them one after another; before each, what it will take by measured costs.

    What one of several cannot use (a cell that holds no box) is said in its place, and the others go on.
    """
    outcomes = []
    for k, name in enumerate(wanted):
        seconds = fast_seconds(made, name)
        about = f", about {seconds:.0f} s" if seconds >= 1 else ""
        progress(k, len(wanted), f"control {k + 1} of {len(wanted)}: {name.replace('_', ' ')}{about}")
        try:
            outcomes.append(by_name(name)(made, progress=progress))
        except CellError as error:
            if len(wanted) == 1:
                raise
            text = f"{name.replace('_', ' ')}: {error}"
            outcomes.append(Outcome((), (Note("not evaluated", f"control: {name}", text),)))
    return outcomes


def _audit_settings(options: ControlSettings) -> Settings:
    shared = {f.name for f in dataclasses.fields(Settings)} & {f.name for f in dataclasses.fields(ControlSettings)}
    return Settings(**{k: getattr(options, k) for k in shared})


def _joined(before: AuditReport, made: Study, outcomes: Sequence[Outcome]) -> AuditReport:
    """The report with these controls in place of earlier ones of the same names."""
    fresh = tuple(dict.fromkeys([*made.notes, *(n for o in outcomes for n in o.notes)]))
    results = tuple(r for o in outcomes for r in o.results)
    again, topics = {r.control for r in results}, {n.topic for n in fresh}
    notes = (*(n for n in before.notes if n.topic not in topics), *fresh)
    asked = {f"control_{k}": v for k, v in dataclasses.asdict(made.settings).items()}
    return dataclasses.replace(
        before,
        notes=notes,
        settings={**before.settings, **asked},
        verdict=sentence(notes) if any(n.topic == ALONE for n in notes) else before.verdict,
        control_results=(*(r for r in before.control_results if r.control not in again), *results),
        control_runs=(
            *(r for r in before.control_runs if r.config.option("control", "") not in again),
            *(r for o in outcomes for r in o.runs),
        ),
        control_sheets=(
            *(s for s in before.control_sheets if s.control not in again),
            *(s for o in outcomes for s in o.sheets),
        ),
    )


def _stored(samples: Samples, scan: Scan, out: Path | None) -> AuditReport | None:
    """The report in `out` if it is about the same images and labels."""
    from .report.stored import load_report

    if out is None:
        return None
    try:
        before = load_report(out)
    except (PathError, StoreError):  # nothing there yet, or nothing that can be read: a new report
        return None
    same = before.samples.ids == samples.ids and before.samples.classes == samples.classes
    same = same and np.array_equal(before.samples.labels, samples.labels) and before.scan.content == scan.content
    return before if same else None


def _new(made: Study, failures: tuple[Any, ...]) -> AuditReport:
    """A report that holds nothing but the corpus and the splits of the controls."""
    text = (
        "inflation, exposure of the existing split and the ladder: this is a report of controls; run an audit as well"
    )
    return AuditReport(
        samples=made.samples,
        failures=failures,
        scan=made.scan,
        grouping=made.grouping,
        plans=made.plans,
        exposures=made.exposures,
        runs=(),
        effects=(),
        settings={k: getattr(made.settings, k) for k in READ},
        versions=versions(),
        verdict="",
        notes=(Note("not evaluated", ALONE, text),),
    )


def sentence(notes: Sequence[Note]) -> str:
    """What the controls say in one sentence: the first warning of a background control, else of any, else that none."""
    free = [n for n in notes if n.text.startswith(("classes differ in acquisition", "acquisitions can be told apart"))]
    if free:
        more = f" ({len(free)} controls without the object say so)" if len(free) > 1 else ""
        return f"{free[0].text[0].upper()}{free[0].text[1:]}{more}"
    read = [n for n in notes if n.text.startswith(("no sign", "groups have a fingerprint"))]
    if read:
        return f"{read[0].text[0].upper()}{read[0].text[1:]}"
    return (
        "No control without the object could be evaluated, or none found anything; the section on controls says what."
    )
