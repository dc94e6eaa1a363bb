"""The marks of an audit, and of what other verbs found, into a dataset and out of it again.

One custom run (`hsd_audit`, `hsd_repair`, ...) records what was written, so that a second one replaces exactly that and
`undo` restores every document. It is registered before the first mark: marks of a run that was cut short are found and
removed too.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ..errors import InputError, StaleError
from ..judging import Pair, queue
from ..model import AuditReport
from ..progress import Progress, guarded
from .arranging import arrange, restore
from .bulk import Record, alive, digests, remove_marks, write_samples
from .filters import images
from .keeping import RUNS, forget_report, keep_report, now, packed, renew, unpacked
from .marks import EXISTING, Evaluation, Marks, ViewPlan, marks
from .overview import overview
from .reading import GROUP, OURS, from_view, label_path
from .root import alone, root
from .status import unnoticed
from .verdicts import follow_verdicts, forget_patches, patches

RUN = RUNS["audit"]
FORCE = (
    "undo with force=True removes the marks together with those changes; in the App that is HSD: undo with "
    'the box "Also drop marks that somebody changed since"'
)
AGAIN = "run the audit again"
READING = ("label_field", "split_field", "group_field")


@dataclass(frozen=True)
class Written:
    """What was written or removed: number of samples, and the names of fields, tags, saved views and evaluations."""

    samples: int
    fields: tuple[str, ...]
    tags: tuple[str, ...]
    views: tuple[str, ...]
    evaluations: tuple[str, ...] = ()


def write_audit(view: Any, report: AuditReport, *, force: bool = False, progress: Progress | None = None) -> Written:
    """Write fields, tags, saved views and the custom run `hsd_audit` of a report; marks of an earlier one go.

    All or nothing: when writing fails or is stopped, what was written is removed again.

    Args:
        view: the dataset or view that was audited.
        report: its audit.
        force: drop changes that others made to the marks of the earlier audit.

    Raises:
        InputError: a view of patches or frames, whose marks no sample of the dataset could hold.
        StaleError: samples, labels, splits or groups changed since the audit, somebody changed the earlier marks, or
            fields, tags or views of our names are there that no audit recorded.
    """
    tell = guarded(progress)
    _check(view, report, tell)
    label = label_path(view, report.settings.get("label_field"), []) or ""
    results = {"report": packed(summary(report)), "overview": packed(overview(report, label=label))}
    results["queue"] = packed([asdict(p) for p in _queue(report)])
    with alone(view) as dataset:
        written = _write(dataset, RUN, marks(report), results, force, tell)
        try:
            keep_report(dataset, report)
            renew(dataset, arranged=arrange(dataset, written.fields, label))
            follow_verdicts(dataset)
        except BaseException:
            _undo(dataset, RUN, True)
            raise
    return written


def write_results(
    view: Any,
    report: AuditReport,
    what: str,
    planned: Marks,
    results: Mapping[str, Any],
    *,
    force: bool = False,
    progress: Progress | None = None,
) -> Written:
    """Write marks of `what` (a key of `RUNS`) beside those of an audit; earlier ones of it go. All or nothing.

    Args:
        view: the dataset or view that the report speaks of.
        report: the samples, groups and settings that the dataset must still hold.
        what: whose marks.
        planned: fields, tags and saved views.
        results: plain JSON by name, kept with the run; a panel reads "overview".
        force: drop changes that others made to the earlier marks.

    Raises:
        InputError, StaleError: as `write_audit`.
    """
    tell = guarded(progress)
    _check(view, report, tell)
    with alone(view) as dataset, unnoticed(dataset):
        return _write(dataset, RUNS[what], planned, {k: packed(v) for k, v in results.items()}, force, tell)


def _check(view: Any, report: AuditReport, tell: Progress) -> None:
    """Whether the dataset can hold marks and still is what the report speaks of."""
    root(view)
    _refuse_generated(view)
    tell(0, 0, "comparing the dataset with the audit")
    refuse_stale(view, report)


def _write(dataset: Any, run: str, planned: Marks, results: dict[str, Any], force: bool, tell: Progress) -> Written:
    """Replace the marks of a run."""
    record = Record.planned(planned)
    before = Record.from_json(vars(dataset.get_run_info(run).config)) if dataset.has_run(run) else Record((), (), ())
    refuse_foreign(dataset, record.without(before))
    if dataset.has_run(run):
        _undo(dataset, run, force)
    dataset.register_run(run, dataset.init_run(status="writing", **record.to_json()))
    try:
        write_samples(dataset, planned, tell)
        evaluate(dataset, planned.evaluations, tell)
        saved = {plan.name: save_view(dataset, plan) for plan in planned.views}
        tell(0, 0, "recording what was written")
        results = {**results, "digests": packed(digests(dataset, record)), "views": saved}
        dataset.save_run_results(run, dataset.init_run_results(run, **results), cache=False)
        dataset.update_run_config(run, dataset.init_run(status="done", **now(dataset), **record.to_json()))
    except BaseException:
        _remove(dataset, run, record)
        raise
    return Written(len(planned.ids), record.fields, record.tags, tuple(saved), record.evaluations)


def undo(view: Any, *, what: str = "audit", force: bool = False) -> Written:
    """Remove every mark of the recorded audit; afterwards each document is as it was before, its time stamp aside.

    Args:
        what: whose marks: "audit", "repair", "labels", "controls" or "training".

    Raises:
        InputError: no such marks are recorded here.
        StaleError: somebody changed the marks since; nothing is removed then.
    """
    if what not in RUNS:
        raise InputError(f"what = {what!r}", " or ".join(RUNS))
    with alone(view) as dataset:
        if not dataset.has_run(RUNS[what]):
            came = f"the dataset {dataset.name!r} holds no {what}"
            raise InputError(came, advice=unrecorded(dataset) or "there is nothing to undo")
        with unnoticed(dataset):
            return _undo(dataset, RUNS[what], force)


def unrecorded(view: Any) -> str:
    """What to say about fields of our names that no record holds (somebody deleted the runs), "" if there are none."""
    dataset = root(view)
    known = {name for what in RUNS if dataset.has_run(RUNS[what]) for name in written_names(dataset, what)}
    found = [name for name in dataset.get_field_schema() if name.startswith(OURS) and name not in known]
    if not found:
        return ""
    some = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
    return f"fields {some} exist without a record of what wrote them: delete them by hand if they are to go"


def _undo(dataset: Any, run: str, force: bool) -> Written:
    config = dataset.get_run_info(run).config
    record = Record.from_json(vars(config))
    if config.status == "done" and not force:
        refuse_changed(dataset, run, record)
    return _remove(dataset, run, record)


def written_names(dataset: Any, what: str) -> tuple[str, ...]:
    """The fields that a record holds."""
    return Record.from_json(vars(dataset.get_run_info(RUNS[what]).config)).fields


def stored(view: Any, what: str = "audit") -> Mapping[str, Any] | None:
    """The report of the recorded audit (or label errors) as the value of report.json, None if there is none."""
    dataset, run = root(view), RUNS[what]
    if not dataset.has_run(run) or dataset.get_run_info(run).config.status != "done":
        return None
    found = dataset.load_run_results(run, cache=False)
    return None if found is None else unpacked(found.report)


def storable(view: Any) -> str:
    """Why no sample could hold marks for this view, "" if they can."""
    if view._is_patches or view._is_frames or view._is_clips:
        what = "patches" if view._is_patches else "frames" if view._is_frames else "clips"
        return f"a view of {what} has no samples of its own to mark"
    return ""


def _refuse_generated(view: Any) -> None:
    why = storable(view)
    if why:
        raise InputError(why, "a dataset of images, or a view of one", "use the report and its CSV files instead")


def refuse_stale(view: Any, report: AuditReport) -> None:
    """StaleError unless the view still holds exactly the samples, labels, split and groups that were audited."""
    then = report.samples
    fields: dict[str, Any] = {name: report.settings.get(name) for name in READING}
    more = [c for c in then.metadata if c not in (GROUP, fields["group_field"])]
    now = from_view(view, **fields, metadata=more)
    audited = {*then.ids, *(i for i, _, _ in report.failures)}
    added, removed = len(set(now.ids) - audited), len(audited - set(now.ids))
    if added or removed:
        raise StaleError(
            f"since the audit {added} samples were added and {removed} removed", "the samples that were audited", AGAIN
        )
    row = {name: i for i, name in enumerate(now.ids)}
    order = [row[i] for i in then.ids]
    columns = {"paths": ([now.paths[i] for i in order], list(then.paths))}
    columns["labels"] = (_labels(now, order), _labels(then, range(len(then))))
    columns["splits"] = (now.split[order].tolist(), then.split.tolist())
    for name, values in then.metadata.items():
        columns[f"values of {name}"] = (now.column(name)[order].tolist(), values.tolist())
    for what, (new, old) in columns.items():
        changed = sum(a != b for a, b in zip(new, old, strict=True))
        if changed:
            raise StaleError(f"since the audit the {what} of {changed} samples changed", advice=AGAIN)


def _labels(samples: Any, rows: Iterable[int]) -> list[str]:
    names = [*samples.classes, ""]
    codes = samples.labels.tolist()
    return [names[codes[i]] for i in rows]


def refuse_foreign(dataset: Any, record: Record) -> None:
    """StaleError if a field, tag or saved view of our names is there although no audit is recorded."""
    found = [f"field {n}" for n in record.fields if n in dataset.get_field_schema()]
    found += [f"tag {t}" for t in sorted(set(record.tags) & set(_all_tags(dataset)))]
    found += [f"saved view {n}" for n in record.views if dataset.has_saved_view(n)]
    found += [f"evaluation {n}" for n in record.evaluations if dataset.has_evaluation(n)]
    if found:
        some = ", ".join(found[:5]) + (f" and {len(found) - 5} more" if len(found) > 5 else "")
        raise StaleError(
            f"{some} would be overwritten, but no audit recorded that it wrote them", advice="rename or delete them"
        )


def _all_tags(dataset: Any) -> Sequence[str]:
    return dataset._sample_collection.distinct("tags")  # type: ignore[no-any-return]


def refuse_changed(dataset: Any, run: str, record: Record) -> None:
    """StaleError if marks differ from what the audit wrote: values, tags, or saved views."""
    results = dataset.load_run_results(run, cache=False)
    before: dict[str, str] = unpacked(results.digests) | (patches(dataset) if run == RUN else {})
    after = digests(dataset, record)
    # A sample that was deleted took its marks along: nothing is left to lose there.
    changed = [i for i, digest in after.items() if before.get(i) != digest]
    lost = set(before) - set(after)
    changed += sorted(lost & alive(dataset)) if lost else []
    if changed:
        some = ", ".join(sorted(changed)[:5])
        raise StaleError(
            f"the marks of {len(changed)} samples were changed since the audit wrote them ({some})", advice=FORCE
        )
    for name, stages in results.views.items():
        now = saved_stages(dataset, name)
        if now is not None and now != stages:
            raise StaleError(f"the saved view {name!r} was changed since the audit wrote it", advice=FORCE)


def save_view(dataset: Any, plan: ViewPlan) -> list[str]:
    """Save one view; its stages as they are stored."""
    base = images(dataset)
    if plan.ids:
        view = base.select(list(plan.ids), ordered=True)
    elif plan.tags:
        view = base.match_tags(list(plan.tags), all=True)
    else:
        view = base.exists("hsd_evidence").sort_by("hsd_group")
    dataset.save_view(plan.name, view, description=plan.description)
    return saved_stages(dataset, plan.name) or []


def saved_stages(dataset: Any, name: str) -> list[str] | None:
    """The stages of a saved view as text, None if there is no view of that name."""
    for document in dataset._doc.get_saved_views():
        if document.name == name:
            return list(document.view_stages)
    return None


def evaluate(dataset: Any, evaluations: Iterable[Evaluation], tell: Progress) -> None:
    """Make FiftyOne's own evaluation runs."""
    made = list(evaluations)
    for number, one in enumerate(made):
        tell(number, len(made), "evaluating predictions")
        images(dataset).exists(one.within).evaluate_classifications(
            one.predicted, gt_field=one.truth, eval_key=one.name, classes=list(one.classes), progress=False
        )


def _remove(dataset: Any, run: str, record: Record) -> Written:
    views = tuple(n for n in record.views if dataset.has_saved_view(n))
    for name in views:
        dataset.delete_saved_view(name)
    if run == RUN:
        restore(dataset, record.fields, getattr(dataset.get_run_info(run).config, "arranged", None) or {})
        forget_report(dataset)
        forget_patches(dataset)
    samples = remove_marks(dataset, record)
    # After the fields, which it would delete one by one.
    evaluations = tuple(n for n in record.evaluations if dataset.has_evaluation(n))
    for name in evaluations:
        dataset.delete_evaluation(name)
    # The record goes last, so that a removal that is cut short can be repeated.
    dataset.delete_run(run)
    return Written(samples, record.fields, record.tags, views, evaluations)


def _queue(report: AuditReport) -> tuple[Pair, ...]:
    published = next((e for e in report.exposures if e.condition == EXISTING), None)
    return queue(report.samples.ids, report.grouping, published)


def summary(report: AuditReport) -> Mapping[str, Any]:
    """The value of report.json, tables of every section included."""
    from ..report import sections
    from ..report.json_file import report_json

    value: Mapping[str, Any] = json.loads(report_json(report, sections.build(report), {}))
    return value
