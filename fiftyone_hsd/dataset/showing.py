"""Images of a folder as a FiftyOne dataset with an audit, opened in the App."""

from __future__ import annotations

from typing import Any

from ..errors import InputError
from ..model import Samples
from .arranging import WORKSPACE
from .reading import fiftyone

LABEL = "ground_truth"


def dataset_of(samples: Samples, name: str, *, replace: bool = False) -> Any:
    """A persistent dataset of some samples: their partition as a tag, their class as `ground_truth`.

    Raises:
        InputError: there is a dataset of that name, and `replace` is False.
    """
    fo = fiftyone()
    if fo.dataset_exists(name):
        if not replace:
            raise InputError(f"there is a dataset {name!r} already", advice=f"fiftyone datasets delete {name}")
        fo.delete_dataset(name)
    found = fo.Dataset(name, persistent=True)
    classes = (*samples.classes, "")
    found.add_samples(
        [
            fo.Sample(
                filepath=path,
                tags=[part] if part else [],
                **({LABEL: fo.Classification(label=classes[code])} if code >= 0 else {}),
            )
            for path, part, code in zip(samples.paths, samples.split.tolist(), samples.labels.tolist(), strict=True)
        ]
    )
    return found


def link_to(dataset: Any, port: int = 5151) -> str:
    """The App's address of a dataset, with the workspace of the audit where it has one."""
    more = f"?workspace={WORKSPACE}" if WORKSPACE in dataset.list_workspaces() else ""
    return f"http://localhost:{port}/datasets/{dataset.slug}{more}"


def open_app(dataset: Any, port: int = 5151) -> None:
    """Open the App on a dataset and come back when its window is closed."""
    fo = fiftyone()
    session = fo.launch_app(dataset, port=port, address="127.0.0.1")
    session.wait(-1)
