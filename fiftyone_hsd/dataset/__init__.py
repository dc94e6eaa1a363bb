"""The only door to FiftyOne: Samples out of a dataset or view, the marks of an audit into it, and out of it again.

Importing this package does not import fiftyone; calling it does.
"""

from .annotating import Disagreement, annotator_views, disagreeing, group_attribute
from .bulk import alive
from .filters import filtered, images, missing
from .installing import install_plugin
from .keeping import recorded, stored_findings, stored_overview, stored_report
from .masks import object_fields, object_masks
from .overview_groups import grouping_overview
from .reading import from_name, from_view, label_fields, load, names, scalar_fields, split_counts, unusable
from .recording import write_controls, write_labels, write_repair, write_training
from .root import root
from .showing import dataset_of, link_to, open_app
from .status import Status, Stopped, ask_to_stop, changed_since, forget_failure, is_running, running, stale, status
from .verdicts import (
    add_verdict,
    add_verdicts,
    changed_by_verdicts,
    forget_verdicts,
    groups_after,
    judged_report,
    stored_queue,
    verdicts,
    waiting,
)
from .writing import Written, storable, stored, undo, unrecorded, write_audit

__all__ = [
    "Disagreement",
    "Status",
    "Stopped",
    "Written",
    "add_verdict",
    "add_verdicts",
    "alive",
    "annotator_views",
    "ask_to_stop",
    "changed_by_verdicts",
    "changed_since",
    "dataset_of",
    "disagreeing",
    "filtered",
    "forget_failure",
    "forget_verdicts",
    "from_name",
    "from_view",
    "group_attribute",
    "grouping_overview",
    "groups_after",
    "images",
    "install_plugin",
    "is_running",
    "judged_report",
    "label_fields",
    "link_to",
    "load",
    "missing",
    "names",
    "object_fields",
    "object_masks",
    "open_app",
    "recorded",
    "root",
    "running",
    "scalar_fields",
    "split_counts",
    "stale",
    "status",
    "storable",
    "stored",
    "stored_findings",
    "stored_overview",
    "stored_queue",
    "stored_report",
    "undo",
    "unrecorded",
    "unusable",
    "verdicts",
    "waiting",
    "write_audit",
    "write_controls",
    "write_labels",
    "write_repair",
    "write_training",
]
