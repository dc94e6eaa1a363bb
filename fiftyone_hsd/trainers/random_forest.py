"""Random forest on descriptors: for few numbers of unlike kind (eight pixels, sizes of files)."""

from __future__ import annotations

import time

import numpy as np

from ..model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from ..progress import Progress, guarded
from . import task, train_shares

TREES, LEAF = 40, 3
"""Trees, and samples a leaf holds at least: smaller leaves take time and tell no more of a few numbers (ours)."""


def random_forest(
    samples: Samples,
    plan: SplitPlan,
    descriptors: Descriptors,
    config: TrainConfig,
    *,
    progress: Progress | None = None,
) -> Run:
    """scikit-learn's random forest, classes weighted equally, seeded by `config.seed`, one thread.

    A sample without a vector gets the class shares of train. Option `trees` (int > 0) replaces their number.

    Args:
        samples, plan, descriptors, config: one task; rows agree.
        progress: called once.

    Raises:
        EmptyError: no labelled sample in train, or none outside.
    """
    import sklearn
    from sklearn.ensemble import RandomForestClassifier

    start = time.perf_counter()
    todo = task(samples, plan)
    forest = RandomForestClassifier(
        n_estimators=int(config.option("trees", TREES)),
        min_samples_leaf=LEAF,
        class_weight="balanced",
        random_state=config.seed,
        n_jobs=1,
    )
    forest.fit(descriptors.values[todo.train], samples.labels[todo.train])
    probabilities = np.zeros((len(todo.predict), len(samples.classes)), np.float32)
    probabilities[:, forest.classes_] = forest.predict_proba(descriptors.values[todo.predict])
    blank = ~(descriptors.values[todo.predict] != 0).any(axis=1)
    probabilities[blank] = train_shares(samples, todo)
    guarded(progress)(1, 1, "random forest")
    versions = {"numpy": np.__version__, "scikit-learn": str(sklearn.__version__)}
    seconds = time.perf_counter() - start
    return Run(config, plan.condition, plan.seed, todo.predict, probabilities, versions, seconds, todo.notes)
