"""Parts of results that several operators show."""

from __future__ import annotations

from fiftyone.operators import types


def table(outputs, name, columns):
    """A table of the rows of `name`; `columns` maps their keys to headings."""
    view = types.TableView()
    for key, label in columns.items():
        view.add_column(key, label=label)
    outputs.list(name, types.Object(), view=view)


def notes(outputs, lines, name="note", kind=types.Warning):
    """One line each."""
    for i, line in enumerate(lines):
        outputs.view(f"{name}_{i}", kind(label=line))


def places(outputs, result, nothing=""):
    """Saved views, or in words that there are none; and where the report lies."""
    text = f"Saved views: {', '.join(result['views'])}" if result.get("views") else nothing
    if text:
        outputs.view("where", types.Notice(label=text))
    path(outputs, result, "report", "Report")


def path(outputs, result, name, label):
    """A file or folder of the machine that runs FiftyOne, if there is one."""
    if result.get(name):
        outputs.str(name, label=label, view=types.LabelValueView(read_only=True))
