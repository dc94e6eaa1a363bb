"""The only door to FiftyOne: Samples out of a dataset or view, the marks of an audit into it, and out of it again.

Importing this package does not import fiftyone; calling it does.
"""

from .filters import filtered, images
from .keeping import recorded, stored_overview, stored_report
from .reading import from_name, from_view, label_fields, load, names, scalar_fields, split_counts
from .root import root
from .status import Status, changed_since, forget_failure, running, status
from .verdicts import add_verdict, add_verdicts, forget_verdicts, groups_after, judged_report, stored_queue, verdicts
from .writing import Written, storable, stored, undo, write_audit, write_labels, write_repair

__all__ = [
    "Status",
    "Written",
    "add_verdict",
    "add_verdicts",
    "changed_since",
    "filtered",
    "forget_failure",
    "forget_verdicts",
    "from_name",
    "from_view",
    "groups_after",
    "images",
    "judged_report",
    "label_fields",
    "load",
    "names",
    "recorded",
    "root",
    "running",
    "scalar_fields",
    "split_counts",
    "status",
    "storable",
    "stored",
    "stored_overview",
    "stored_queue",
    "stored_report",
    "undo",
    "verdicts",
    "write_audit",
    "write_labels",
    "write_repair",
]
