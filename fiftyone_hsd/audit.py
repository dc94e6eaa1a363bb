"""The audit: from a folder, a CSV or a FiftyOne view to one report. Needs no FiftyOne by itself."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import platform
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import descriptors as descriptor_folder
from . import trainers
from .audit_groups import find_groups
from .carried import carried_over
from .descriptors import Descriptor
from .encoding import encode
from .errors import EmptyError, InfeasibleError, InputError, PathError, StoreError
from .exposure import exposure
from .matched_swap import design_of, matched_numbers
from .model import (
    TEST,
    TRAIN,
    UNUSED,
    VAL,
    AuditReport,
    Descriptors,
    Effect,
    Grouping,
    Note,
    Run,
    Samples,
    Scan,
    SplitPlan,
    Strings,
    TrainConfig,
    sha256_json,
)
from .places import cache_folder
from .progress import Progress, guarded
from .scan import scan
from .settings import Settings
from .splitting import MAXIMAL_RELEASE, ladder, shuffle
from .store import load, save

MISSED, FALSE = "missed pairs", "false pairs"
DEFAULT_FRACTIONS = {TRAIN: 0.70, VAL: 0.15, TEST: 0.15}
PACKAGES = ("numpy", "scipy", "scikit-learn", "pillow", "opencv-python-headless", "pandas", "faiss-cpu", "faiss-gpu")


def audit(
    source: Any, *, out: str | Path | None = None, progress: Progress | None = None, **settings: Any
) -> AuditReport:
    """Find hidden groups, show what they do to a test score, and propose splits without them.

    Args:
        source: an image folder, a CSV file, `fiftyone:NAME`, a FiftyOne dataset or view, or Samples.
        out: folder for report.html, report.json and the CSV files; None = nothing is written. A run that was
            interrupted resumes from `out/.hsd`. Label results, control results and trained runs that the folder holds
            stay if images, labels and groups are the same.
        progress: `progress(done, total, label)`; its failures never end a run.
        settings: fields of `Settings`.

    Returns:
        an AuditReport over the usable images.

    Raises:
        InputError, PathError, FieldError, PatternError: what was given cannot be used.
        EmptyError: no usable image is left.
        StoreError: `out` cannot be written.
    """
    options = Settings.of(settings)
    for model in options.models:
        trainers.by_name(model)
    tell = guarded(progress)
    state = None if out is None else Path(out) / ".hsd"
    report = evaluate(*corpus(source, options, state, tell), options, state, tell)
    report = dataclasses.replace(report, settings={**report.settings, "source": source_name(source)})
    if out is not None:
        tell(0, 0, "writing the report")
        report = carried_over(report, _earlier(Path(out)))
        publish(report, Path(out))
    return report


def _earlier(out: Path) -> AuditReport | None:
    """The report that a folder holds already, None if there is none that can be read."""
    from .report.stored import load_report

    try:
        return load_report(out)
    except (PathError, StoreError):
        return None


def publish(report: AuditReport, out: Path) -> None:
    """Write the page, the files and the report itself.

    Raises:
        StoreError: `out` cannot be written.
    """
    from .report import write
    from .report.stored import forget_report, store_report

    forget_report(out)
    write(report, out)
    store_report(report, out)


def corpus(
    source: Any, options: Settings, state: Path | None, progress: Progress
) -> tuple[Samples, tuple[tuple[str, str, str], ...], Scan, Descriptors, Grouping]:
    """The usable samples, the failures (id, path, reason), hashes, vectors and groups.

    Raises:
        InputError, PathError, FieldError, PatternError: what was given cannot be used.
        EmptyError: no usable image is left.
    """
    describe = descriptor_folder.by_name(options.descriptor)
    progress(0, 0, "reading the list of files")
    samples = read(source, options)
    found, vectors = read_images(samples, describe, state, progress)
    usable = found.usable
    failures = tuple((samples.ids[i], samples.paths[i], found.failure[i]) for i in np.flatnonzero(~usable))
    if not usable.any():
        first = f"; the first: {failures[0][0]}: {failures[0][2]}" if failures else ""
        raise EmptyError(
            f"none of {len(samples)} images can be used{first}",
            "at least one readable image",
            "check that the path leads to the images themselves",
        )
    samples, found, vectors = samples.take(usable), found.take(usable), vectors.take(usable)
    near = None if state is None else state / "near"
    grouping = find_groups(samples, found, options, progress, vectors, near)
    return samples, failures, found, vectors, grouping


def read_images(
    samples: Samples, describe: Descriptor, state: Path | None, progress: Progress
) -> tuple[Scan, Descriptors]:
    """Hashes and vectors of all images; vectors of a network are kept by content for every later audit."""
    cache = None if state is None else state / "scan"
    if not hasattr(describe, "weights"):
        found, (vectors,) = scan(samples, [describe], cache=cache, progress=progress)
        return found, vectors
    found, _ = scan(samples, cache=cache, progress=progress)
    usable = [c if not f else "" for c, f in zip(found.content, found.failure, strict=True)]
    return found, encode(samples.paths, describe, contents=usable, folder=cache_folder(), progress=progress)[0]


def source_name(source: Any) -> str:
    """What a user would type for this source."""
    if isinstance(source, Samples):
        return source.root
    if isinstance(source, AuditReport):
        return str(source.settings.get("source", source.samples.root))
    if isinstance(source, (str, Path)):
        return str(source)
    # a view knows its dataset's name; `name` of a view is that of the saved view
    return f"fiftyone:{getattr(source, 'dataset_name', None) or source.name}"


def is_dataset_name(source: str | Path) -> bool:
    """Whether a text means a FiftyOne dataset: `fiftyone:NAME`, or a plain NAME at which there is no file or folder."""
    text = str(source)
    if Path(source).exists():
        return False
    plain = Path(text).name == text and not Path(text).suffix
    return text.startswith("fiftyone:") or (plain and importlib.util.find_spec("fiftyone") is not None)


def read(source: Any, options: Settings, columns: Sequence[str] = ()) -> Samples:
    """Samples from whatever the user named; a path that exists beats a FiftyOne dataset of that name.

    `columns` are further FiftyOne fields to read; a table brings all of its columns anyway.
    """
    if isinstance(source, Samples):
        return source
    if isinstance(source, (str, Path)) and not is_dataset_name(source):
        from .folder import from_source

        if options.label_field is not None or options.split_field is not None:
            raise InputError(
                "label_field and split_field name fields of a FiftyOne dataset",
                "for a folder or CSV: a file with columns path,label[,group,split]",
                "give that file as `labels`",
            )
        return from_source(Path(source), labels=None if options.labels is None else Path(options.labels))
    from .dataset import from_name, from_view

    if options.labels is not None:
        raise InputError(
            "a labels file was given for a FiftyOne dataset", "label_field", "name the field with the label"
        )
    fields: dict[str, Any] = {k: getattr(options, k) for k in ("label_field", "split_field", "group_field")}
    fields["metadata"] = columns
    if isinstance(source, (str, Path)):
        return from_name(str(source).removeprefix("fiftyone:"), **fields)
    return from_view(source, **fields)


def evaluate(
    samples: Samples,
    failures: tuple[tuple[str, str, str], ...],
    found: Scan,
    vectors: Descriptors,
    grouping: Grouping,
    options: Settings,
    state: Path | None,
    progress: Progress,
) -> AuditReport:
    """Everything after the groups: plans, exposure, runs, effects, verdict."""
    from .effects import effects
    from .verdict import verdict

    notes: list[Note] = []
    plans = list(existing_plan(samples, notes)) + list(ladder_plans(samples, grouping, options, notes, progress))
    exposures = []
    for done, plan in enumerate(plans):
        progress(done, len(plans), "exposure")
        exposures.append(exposure(plan, grouping, vectors))
    runs = tuple(train_all(samples, found, vectors, plans, options, state, progress))
    progress(0, 0, "intervals")
    numbers = tuple(effects(samples, grouping, plans, exposures, runs))
    if runs:
        numbers += tuple(_swapped(samples, found, vectors, grouping, options, state, notes))
    notes += agreement_with_truth(samples, grouping, options)
    return AuditReport(
        samples=samples,
        failures=failures,
        scan=found,
        grouping=grouping,
        plans=tuple(plans),
        exposures=tuple(exposures),
        runs=runs,
        effects=numbers,
        settings=dataclasses.asdict(options),
        versions=versions(),
        verdict=verdict(samples, grouping, plans, exposures, numbers),
        notes=tuple(notes),
    )


def _swapped(
    samples: Samples,
    found: Scan,
    vectors: Descriptors,
    grouping: Grouping,
    options: Settings,
    state: Path | None,
    notes: list[Note],
) -> Iterable[Effect]:
    """The matched swap with the models of the audit."""
    try:
        design = design_of(samples, grouping)
    except InfeasibleError as error:
        notes.append(Note("not evaluated", "matched swap", f"matched swap: {error}"))
        return
    notes += design.notes
    runs = list(train_all(samples, found, vectors, design.plans, options, state, guarded(None)))
    yield from matched_numbers(samples, grouping, design, runs)


def existing_plan(samples: Samples, notes: list[Note]) -> Iterable[SplitPlan]:
    """The split as published, as a plan; samples without a partition are `unused`."""
    names = set(samples.split.tolist()) - {""}
    if not names:
        notes.append(Note("not evaluated", "existing split", "existing split: the corpus comes without one"))
    elif TRAIN not in names or len(names) < 2:
        have = ", ".join(sorted(names))
        text = f"existing split: no statement without a train partition and another one (partitions found: {have})"
        notes.append(Note("not evaluated", "existing split", text))
    else:
        partition = np.where(samples.split == "", UNUSED, samples.split)
        yield SplitPlan.of("existing", 0, partition, samples.ids)


def ladder_plans(
    samples: Samples,
    grouping: Grouping,
    options: Settings,
    notes: list[Note],
    progress: Progress,
    *,
    source: Strings | None = None,
    **drawn: Any,
) -> Iterable[SplitPlan]:
    """The conditions for every seed, drawn over the labelled samples; the others are `unused`.

    Args:
        source: (n,) str, the source column of `splitting.ladder`.
        drawn: its further options (sentinel, conditions, validation).
    """
    rows = np.flatnonzero(samples.labels >= 0)
    if not len(rows):
        notes.append(Note("not evaluated", "ladder", "splits, training and inflation: no labels"))
        return
    if len(rows) < len(samples):
        text = "samples without a label take part in groups and exposure of the existing split, not in training"
        notes.append(Note("warning", "unlabelled", text, len(samples) - len(rows)))
    fractions = options.fractions or fractions_of(samples.split[rows])
    ids = [samples.ids[i] for i in rows]
    seen: set[Note] = set()
    for seed in range(options.seeds):
        progress(seed, options.seeds, "splits")
        try:
            plans = ladder(
                samples.labels[rows],
                grouping.codes[rows],
                fractions,
                seed=seed,
                ids=ids,
                names=samples.classes,
                source=None if source is None else source[rows],
                **drawn,
            )
        except InfeasibleError as error:
            notes.append(Note("not evaluated", "ladder", f"intact split and inflation: {error}"))
            return
        if any(n.topic == MAXIMAL_RELEASE for n in plans[-1].notes):
            plans.append(shuffle(samples.labels[rows], plans[-1], ids=ids))
        for plan in plans:
            partition = np.full(len(samples), UNUSED, dtype=f"<U{max(8, plan.partition.dtype.itemsize // 4)}")
            partition[rows] = plan.partition
            notes += [n for n in plan.notes if n not in seen and seed == 0]
            seen |= set(plan.notes)
            yield SplitPlan.of(plan.condition, seed, partition, samples.ids, plan.notes)


def fractions_of(split: np.ndarray[Any, np.dtype[np.str_]]) -> dict[str, float]:
    """Shares of the existing split where it has train and another partition of at least 1 %, else the default."""
    names, counts = np.unique(split[split != ""], return_counts=True)
    shares = {str(k): float(v) for k, v in zip(names, counts / max(1, counts.sum()), strict=True)}
    return shares if TRAIN in shares and len(shares) > 1 and min(shares.values()) >= 0.01 else dict(DEFAULT_FRACTIONS)


def train_all(
    samples: Samples,
    found: Scan,
    vectors: Descriptors,
    plans: Sequence[SplitPlan],
    options: Settings,
    state: Path | None,
    progress: Progress,
) -> Iterable[Run]:
    """One run for each model and plan; a run that `state` already holds is not repeated."""
    data = sha256_json([samples.ids, samples.labels.tolist(), samples.classes, found.content, vectors.name])
    jobs = [(model, plan) for model in options.models for plan in plans if trainable(samples, plan)]
    for done, (model, plan) in enumerate(jobs):
        progress(done, len(jobs), f"training {model}")
        config = TrainConfig(model, plan.seed)
        key = sha256_json([data, plan.digest, dataclasses.asdict(config), versions()])
        path = None if state is None else state / "runs" / f"{key[:32]}.npz"
        if path is not None and path.exists():
            try:
                yield load(path, Run)
                continue
            except StoreError:
                path.unlink(missing_ok=True)
        run = trainers.by_name(model)(samples, plan, vectors, config)
        if path is not None:
            save(path, run)
        yield run


def trainable(samples: Samples, plan: SplitPlan) -> bool:
    """Whether a plan has at least two classes to learn and something to predict."""
    labelled = samples.labels >= 0
    inside = labelled & (plan.partition == TRAIN)
    outside = labelled & (plan.partition != TRAIN) & (plan.partition != UNUSED)
    return bool(outside.any()) and len(np.unique(samples.labels[inside])) > 1


def agreement_with_truth(samples: Samples, grouping: Grouping, options: Settings) -> list[Note]:
    """How the groups found compare with the true ones; reads the truth only now."""
    if options.truth is None:
        return []
    from .agreement import agreement, disagreeing
    from .folder import read_groups

    truth = read_groups(Path(options.truth), samples)
    rows = np.flatnonzero(truth != "")
    if not len(rows):
        return [Note("not evaluated", "truth", f"agreement with the truth: {options.truth} names none of the images")]
    true = np.unique(truth[rows], return_inverse=True)[1].astype(np.int64)
    result = agreement(grouping.codes[rows], true)
    text = (
        f"against the true groups of {len(rows)} images: pairwise precision {result.precision:.3f}, "
        f"recall {result.recall:.3f}, F1 {result.f1:.3f}; B-cubed F1 {result.b_cubed_f1:.3f}, "
        f"adjusted Rand {result.adjusted_rand:.3f}"
    )
    notes = [Note("info", "truth", text, len(rows))]
    for topic, one, other, words in (
        (MISSED, true, grouping.codes[rows], "true mates that were not found"),
        (FALSE, grouping.codes[rows], true, "images joined that are no true mates"),
    ):
        found = disagreeing(one, other)
        if found:
            examples = tuple(f"{samples.ids[rows[a]]} | {samples.ids[rows[b]]}" for a, b in found)
            notes.append(Note("warning", topic, f"{words}, a pair of each of the first groups", len(found), examples))
    return notes


def versions() -> dict[str, str]:
    """Package -> version of what can change a number."""
    from . import __version__

    there = {"fiftyone-hsd": __version__, "python": platform.python_version()}
    for name in PACKAGES:
        try:
            there[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    return there
