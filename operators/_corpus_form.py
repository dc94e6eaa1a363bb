"""The part of a form that says where labels, the existing split and groups come from, and its settings."""

from __future__ import annotations

from fiftyone.operators import types

from fiftyone_hsd import dataset
from fiftyone_hsd.errors import HsdError
from fiftyone_hsd.grouping._user_pattern import pattern_groups
from fiftyone_hsd.settings import Settings

from ._inputs import choices, invalid, text_of

TAGS = "(sample tags)"
DEFAULT_LABEL = "ground_truth"
NAMES, COPIES, FIELD, PATTERN = "names", "copies", "field", "pattern"
TRIED = 1000
"""Names that the form tries a pattern on; the work itself reads all of them."""
DEFAULTS = Settings()


def corpus_settings(params):
    """Settings of labels, split and groups from the parameters of a form or of an SDK call.

    Raises:
        InputError: a name or pattern that is no text.
    """
    by = params.get("groups_by")
    split = text_of(params, "split_field")
    return {
        "label_field": text_of(params, "label_field"),
        "split_field": None if split in (None, TAGS) else split,
        "group_field": text_of(params, "group_field") if by in (None, FIELD) else None,
        "pattern": text_of(params, "pattern") if by in (None, PATTERN) else None,
        "names": by == NAMES if by else bool(params.get("names", DEFAULTS.names)),
        "near_copies": params.get("near_copies") or DEFAULTS.near_copies,
        "trust_split": bool(params.get("trust_split", DEFAULTS.trust_split)),
    }


def has_images(inputs, view):
    """Whether there are images to work on; the form otherwise says why not and cannot be executed."""
    if not len(view):
        invalid(inputs, "empty", "This view shows no image")
        return False
    why = dataset.unusable(view)
    if why:
        invalid(inputs, "media", why)
    return not why


def corpus_inputs(ctx, inputs, view, without_labels):
    """The inputs; `without_labels` says what cannot be done where no field names one class an image."""
    label_input(inputs, view, without_labels)
    _split_input(ctx, inputs, view)
    _group_input(ctx, inputs, view)


def label_input(inputs, view, without_labels):
    single, several = dataset.label_fields(view)
    if not single:
        there = f" ({', '.join(several)}: not one class an image)" if several else ""
        inputs.view("no_labels", types.Warning(label=f"No classification field{there}: {without_labels}"))
        return
    first = DEFAULT_LABEL if DEFAULT_LABEL in single else single[0]
    ways = choices((name, name) for name in single)
    inputs.enum("label_field", ways.values(), label="Label", default=first, view=ways)


def _split_input(ctx, inputs, view):
    fields = dataset.scalar_fields(view)
    ways = choices([(TAGS, "sample tags train, val, test"), *((f, f"field {f}") for f in fields)])
    inputs.enum("split_field", ways.values(), label="Existing split", default=TAGS, view=ways)
    try:
        chosen = corpus_settings(ctx.params)["split_field"]
        counts = dataset.split_counts(view, chosen)
    except HsdError as error:
        invalid(inputs, "split_error", error)
        return
    shown = ", ".join(f"{k or 'in none'} {v:,}" for k, v in list(counts.items())[:8])
    text = f"Found: {shown}" if set(counts) - {""} else "No partition found there: the existing split is not evaluated"
    inputs.view("split_found", types.Notice(label=text))


def _group_input(ctx, inputs, view):
    ways = types.RadioGroup()
    ways.add_choice(NAMES, label="the file names, if they seem to hold groups")
    ways.add_choice(COPIES, label="copies among the images only")
    ways.add_choice(FIELD, label="a field (patient, slide, session)")
    ways.add_choice(PATTERN, label="a pattern in the file path")
    usual = NAMES if DEFAULTS.names else COPIES
    inputs.enum("groups_by", ways.values(), label="Groups from", default=usual, view=ways)
    by = ctx.params.get("groups_by", usual)
    if by == FIELD:
        ways = choices((f, f) for f in dataset.scalar_fields(view))
        inputs.enum("group_field", ways.values(), label="Group field", required=True, view=ways)
    elif by == PATTERN:
        label = r"Regular expression with a group named `group`, such as (?P<group>patient\d+)"
        inputs.str("pattern", label=label, required=True)
        _try_pattern(inputs, view, ctx.params.get("pattern"))
    ways = choices([("auto", "where no groups are given"), ("on", "always"), ("off", "never")])
    label = "Search for near copies (resized, recompressed, turned, mirrored, cropped)"
    inputs.enum("near_copies", ways.values(), label=label, default=DEFAULTS.near_copies, view=ways)
    label = "I trust the existing split: calibrate near copies on it (none across it can be found)"
    inputs.bool("trust_split", label=label, default=DEFAULTS.trust_split)


def _try_pattern(inputs, view, expression):
    if not expression:
        return
    names = dataset.names(view, limit=TRIED)
    try:
        found = [str(g) for g in pattern_groups(names, expression, seconds=2.0) if g]
    except HsdError as error:
        invalid(inputs, "pattern_error", error)
        return
    if not found:
        invalid(inputs, "pattern_error", f"The pattern fits none of {len(names):,} images; the first is {names[0]}")
        return
    text = f"{len(found):,} of the first {len(names):,} images in {len(set(found)):,} groups; the first is {found[0]}"
    inputs.view("pattern_found", types.Notice(label=text))
