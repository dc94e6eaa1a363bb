"""In short: the main numbers, what each means, and what must be known before they are used."""

from __future__ import annotations

from ...model import AuditReport
from .. import lookup
from ..blocks import Block, Column, Fact, Facts, Section, Table
from ..wording import many, part

WORDS = (
    ("sample", "one image file."),
    ("group", "samples that are not independent: same patient, slide, field or session, or copies of each other."),
    ("mate", "another sample of the same group."),
    ("exposed", "an image outside train that has at least one mate in train: the model has seen something of it."),
    ("crossing", "a group of two or more images that lies in two or more partitions."),
    ("intact", "whole groups go to one partition. Its score estimates performance on new groups (new patients)."),
    ("q25, q50, q75", "three steps between: one, two and three quarters of the images are released from their groups."),
    ("random", "single images are dealt out, as a random split does. Every condition has the same class counts."),
    ("shuffle", "a plain shuffle within classes, shown where random could not release every group."),
    (
        "inflation",
        "score under a condition minus score under intact, same model and recipe. Where the same groups return in "
        "use (follow-up, a closed gallery), random is the right reference and nothing is inflated.",
    ),
    (
        "[low, high]",
        "95 % interval for this recipe and new groups from the same sources, by resampling whole groups. It does not "
        "speak of new sites.",
    ),
    ("n", "the number of images, or of groups where the method below the table says so, that a number rests on."),
    ("not estimable", "too few independent groups for an honest number; never a sign that all is well."),
)


def section(report: AuditReport) -> Section:
    """The numbers of the report on one screen."""
    notes = lookup.all_notes(report)
    missing = sum(n.level == "not evaluated" for n in notes)
    blocks: list[Block] = [Facts((_images(report), *_groups(report), *_exposed(report), *_inflation(report)))]
    blocks.append(Table("What each word and number means", (Column("word"), Column("meaning")), WORDS, folded=True))
    blocks += lookup.notices(notes, "problem")
    # Controls have a chapter of their own, in which each reading stands beside its numbers.
    blocks += lookup.notices((n for n in notes if not n.topic.startswith("control: ")), "warning")
    lead = ""
    if missing:
        lead = f"{many(missing, 'question was', 'questions were')} not evaluated; the section “Not evaluated” says why."
    return Section("in-short", "In short", 0, lead, tuple(blocks))


def _images(report: AuditReport) -> Fact:
    usable, failed = len(report.samples), len(report.failures)
    unlabelled = int((report.samples.labels < 0).sum())
    said = [
        many(len(report.samples.classes), "class", "classes") if report.samples.labelled else "no labels",
        f"{unlabelled:,} without a label" if report.samples.labelled and unlabelled else "",
        f"{failed:,} more could not be used" if failed else "all could be read",
    ]
    return Fact("Images", usable, "; ".join(filter(None, said)) + ".", "count")


def _groups(report: AuditReport) -> list[Fact]:
    sizes = report.grouping.sizes
    several = int((sizes > 1).sum())
    mates = int(sizes[sizes > 1].sum())
    if not several:
        return [Fact("Groups of two or more", 0, "No mates were found. That is no proof that there are none.", "count")]
    meaning = (
        f"{part(mates, len(report.samples))} images have at least one mate; the largest group has {sizes.max():,}."
    )
    return [Fact("Groups of two or more", several, meaning, "count")]


def _exposed(report: AuditReport) -> list[Fact]:
    found = lookup.primary(report, lookup.EXISTING)
    name = "split as published"
    if found is None:
        end = lookup.endpoint(report)
        found, name = lookup.primary(report, end), f"condition {end}, primary seed"
    if found is None:
        return []
    plan, exposure = found
    partition = lookup.readout(plan)
    rows = (plan.partition == partition) & exposure.evaluated
    n, k = int(rows.sum()), int(exposure.exposed[rows].sum())
    if not n:
        return []
    meaning = f"{k:,} of {n:,} {partition} images have a mate in train ({name})."
    return [Fact(f"Exposed {partition} images", k / n, meaning, "share")]


def _inflation(report: AuditReport) -> list[Fact]:
    metric, end = lookup.metric(report), lookup.endpoint(report)
    facts = []
    for model in lookup.models(report):
        value = lookup.estimate(
            lookup.effects(report, "inflation", model=model, condition=end, metric=metric), "change"
        )
        if value is not None:
            name, words = lookup.model_name(model), metric.replace("_", " ")
            seeds = many(len(list(lookup.pairs(report, end))), "seed")
            meaning = f"{words} of {name}: {end} minus intact, mean over {seeds}, with 95 % interval; n = {value.n:,}."
            facts.append(Fact("Inflation by a random split", value, meaning, "change"))
    return facts[:3]
