"""`hsd groups`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from ..model import Links
from ..settings import Settings
from .application import Quiet, app, resumable
from .console import Out, progress
from .inputs import (
    GroupField,
    Groups,
    LabelField,
    Labels,
    Names,
    NearCopies,
    NearThreshold,
    Pattern,
    SplitField,
    TrustSplit,
    Verdicts,
)
from .summary import STYLES

DEFAULTS = Settings()
LINKS = ("path_a", "path_b", "source", "score", "rule", "accepted")
SETTINGS = (
    *("groups", "group_field", "labels", "label_field", "split_field", "pattern", "names", "near_copies"),
    *("near_threshold", "trust_split", "verdicts", "descriptor"),
)


@app.command()
def groups(
    path: Annotated[
        str,
        typer.Argument(metavar="PATH", help="Image folder, CSV file of images or of names, or fiftyone:NAME."),
    ],
    groups: Groups = DEFAULTS.groups,
    group_field: GroupField = DEFAULTS.group_field,
    labels: Labels = DEFAULTS.labels,
    label_field: LabelField = DEFAULTS.label_field,
    split_field: SplitField = DEFAULTS.split_field,
    pattern: Pattern = DEFAULTS.pattern,
    names: Names = DEFAULTS.names,
    near_copies: NearCopies = DEFAULTS.near_copies,
    near_threshold: NearThreshold = DEFAULTS.near_threshold,
    trust_split: TrustSplit = DEFAULTS.trust_split,
    verdicts: Verdicts = DEFAULTS.verdicts,
    descriptor: Annotated[
        str, typer.Option(help="What proposes candidates for near copies, beside local features.")
    ] = DEFAULTS.descriptor,
    known: Annotated[
        str | None, typer.Option(metavar="AUDIT", help="Audit folder: which of its groups do these files join?")
    ] = None,
    why: Annotated[
        tuple[str, str] | None, typer.Option(metavar="A B", help="Two paths: the links by which they are in one group.")
    ] = None,
    truth: Annotated[
        str | None, typer.Option(help="CSV file (path,group), opened only after the work, to score the groups found.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV file: path,group,evidence,confidence.")] = None,
    links: Annotated[Path | None, typer.Option(metavar="FILE", help="CSV file: every link and its evidence.")] = None,
    quiet: Quiet = False,
) -> None:
    """Find groups alone: no splits, no training. Names in a CSV file need no images."""
    from ..folder.tables import write_table
    from ..groups import groups as run
    from ..groups import table_of

    given = dict(locals())
    folder = None if out is None else out.absolute().parent
    with resumable(folder), progress(quiet) as tell:
        state = None if folder is None else folder / ".hsd"
        result = run(path, known=known, state=state, progress=tell, **{k: given[k] for k in SETTINGS})
    console = Out()
    sizes = np.unique([i for i in result.ids if i], return_counts=True)[1]
    if result.abstained:
        console.say("no groups: ", "yellow", "no source says anything about these files")
    else:
        several = int((sizes > 1).sum())
        text = f"{several} groups of two or more hold {int(sizes[sizes > 1].sum())} of {len(result.paths)} files"
        console.say(text + ("; the largest: " + str(int(sizes.max())) if several else ""), "bold")
    for note in result.grouping.notes:
        console.say(f"{note.level}: ", STYLES[note.level], note.text)
    for reason in result.failures[:5]:
        console.say("unreadable: ", "yellow", ": ".join(reason))
    for join in result.joined[:20]:
        where = f" ({join.partition})" if join.partition else ""
        console.say(f"{join.path} joins {join.group} by {join.known}{where}: ", "", f"{join.source}, {join.rule}")
    if why is not None:
        _say_why(console, result.why(*why), result.paths)
    if truth is not None:
        console.say(_against(truth, result.paths, result.grouping.codes))
    if out is not None:
        write_table(out, table_of(result))
        console.say(f"groups: {out}")
    if links is not None:
        write_table(links, _columns(result.grouping.links, result.paths))
        console.say(f"links: {links}")


def _say_why(console: Out, links: Links, paths: Sequence[str]) -> None:
    if not len(links):
        console.say("these two files are in different groups")
    for a, b, source, score, rule in zip(links.a, links.b, links.source, links.score, links.rule, strict=True):
        console.say(f"{paths[a]} | {paths[b]}: ", "bold", f"{source} ({score:.3f}), {rule}")


def _against(truth: str, paths: Sequence[str], codes: np.ndarray[Any, Any]) -> str:
    from ..agreement import agreement
    from ..folder.tables import joined

    true = np.array(joined(Path(truth), paths, ("group",))[0]["group"], np.str_)
    rows = np.flatnonzero(true != "")
    found = agreement(codes[rows], np.unique(true[rows], return_inverse=True)[1])
    return (
        f"against the true groups of {len(rows)} files: pairwise precision {found.precision:.3f}, "
        f"recall {found.recall:.3f}, F1 {found.f1:.3f}; B-cubed F1 {found.b_cubed_f1:.3f}, "
        f"adjusted Rand {found.adjusted_rand:.3f}"
    )


def _columns(links: Links, paths: Sequence[str]) -> dict[str, list[Any]]:
    ends = ([paths[i] for i in column] for column in (links.a, links.b))
    accepted = ["true" if ok else "false" for ok in links.accepted]
    values = (*ends, links.source.tolist(), links.score.tolist(), links.rule.tolist(), accepted)
    return dict(zip(LINKS, values, strict=True))
