"""Options of every verb that reads a corpus and its groups; names and meaning are those of `Settings`."""

from __future__ import annotations

from typing import Annotated

import typer

Corpus = Annotated[
    str, typer.Argument(metavar="PATH", help="Image folder, CSV file, or FiftyOne dataset (fiftyone:NAME).")
]
CorpusOrAudit = Annotated[
    str,
    typer.Argument(metavar="PATH", help="Folder of an audit, image folder, CSV file, or FiftyOne dataset."),
]
Groups = Annotated[str | None, typer.Option(help="CSV file (path,group) with known groups.")]
GroupField = Annotated[str | None, typer.Option(help="CSV column or FiftyOne field with known groups.")]
Labels = Annotated[str | None, typer.Option(help="CSV file (path,label[,group,split]) with the labels of a folder.")]
LabelField = Annotated[str | None, typer.Option(help="FiftyOne classification field.")]
SplitField = Annotated[str | None, typer.Option(help="FiftyOne string field with the existing split; default: tags.")]
Pattern = Annotated[
    str | None, typer.Option(help="Regular expression with (?P<group>...), searched in each relative path.")
]
Names = Annotated[
    bool, typer.Option("--names/--no-names", help="When no groups are given, use those that file names seem to hold.")
]
NearCopies = Annotated[str, typer.Option(help="Search for near copies: on, off, or auto = where no groups are given.")]
NearThreshold = Annotated[
    float | None, typer.Option(help="Smallest agreement of near copies, in place of the calibrated one.")
]
TrustSplit = Annotated[
    bool, typer.Option("--trust-split", help="Calibrate near copies on the existing split; finds none across it.")
]
Verdicts = Annotated[str | None, typer.Option(help="CSV file (path_a,path_b,verdict,author,time) of reviewers.")]
Unknown = Annotated[
    str, typer.Option(help="A file nothing is known about: `singleton` = its own group, `refuse` = stop.")
]

READING = ("groups", "group_field", "labels", "label_field", "split_field", "pattern", "names", "unknown")
"""The fields of `Settings` that these options fill."""
