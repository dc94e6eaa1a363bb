"""Find hidden sample dependence in image data sets, measure what it inflates, and split without it.

`audit` is the whole pipeline; the steps and the values they hand on live in the modules of the same names.
"""

__version__ = "0.1.0"

# The verbs are bound here, after their modules of the same name, so that `fiftyone_hsd.audit` is always the function.
from .audit import audit
from .control_experiments import controls
from .control_settings import ControlSettings
from .groups import groups
from .labels import labels
from .ladder import ladder
from .leaks import leaks
from .recompute import effects
from .release import export, verify
from .repair import repair
from .settings import Settings
from .train import train

__all__ = [
    "ControlSettings",
    "Settings",
    "__version__",
    "audit",
    "controls",
    "effects",
    "export",
    "groups",
    "labels",
    "ladder",
    "leaks",
    "repair",
    "train",
    "verify",
]
