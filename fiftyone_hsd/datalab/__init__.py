"""The bridge to cleanlab: importing this package registers the issue types `hidden_group` and `split_leak`.

    import fiftyone_hsd.datalab as bridge
    lab = cleanlab.Datalab(data, label_name="label")
    lab.find_issues(issue_types=bridge.issue_types(report), knn_graph=bridge.knn_graph(descriptors))
    lab.report()

Without cleanlab the import still works and registers nothing; every function then says what to install.
"""

from .checking import Lab, check
from .confident import confident_learning
from .graph import knn_graph
from .registering import cleanlab_there, issue_types, register
from .undisturbed import undisturbed

__all__ = ["Lab", "check", "confident_learning", "issue_types", "knn_graph", "register", "undisturbed"]

if cleanlab_there():
    register()
