"""The only door to FiftyOne: Samples out of a dataset or view, the marks of an audit into it, and out of it again.

Importing this package does not import fiftyone; calling it does.
"""

from .reading import from_name, from_view, label_fields, load, names, scalar_fields, split_counts
from .writing import Written, storable, stored, undo, write_audit, write_labels, write_repair

__all__ = [
    "Written",
    "from_name",
    "from_view",
    "label_fields",
    "load",
    "names",
    "scalar_fields",
    "split_counts",
    "storable",
    "stored",
    "undo",
    "write_audit",
    "write_labels",
    "write_repair",
]
