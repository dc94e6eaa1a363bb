"""What the panel reads agrees with the report it was made of, and holds nothing that grows with the corpus."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from fiftyone_hsd import audit
from fiftyone_hsd.dataset import overview as module
from fiftyone_hsd.dataset.overview import above, edges, overview


@pytest.fixture(scope="module")
def shown(report):
    return overview(report, label="ground_truth.label")


def test_it_is_plain_json_without_nan(shown):
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown


def test_sizes_count_every_group_and_image_once(report, shown):
    sizes = Counter(Counter(report.grouping.codes.tolist()).values())
    assert sum(r["groups"] for r in shown["groups"]["sizes"]) == sum(sizes.values())
    assert sum(r["images"] for r in shown["groups"]["sizes"]) == len(report.samples)
    for row in shown["groups"]["sizes"]:
        assert row["groups"] == sum(n for size, n in sizes.items() if row["low"] <= size <= row["high"])
    assert shown["groups"]["largest"] == max(sizes)


def test_the_leaks_of_every_condition_are_those_of_its_first_seed(report, shown):
    assert [leak["condition"] for leak in shown["leaks"]] == ["existing", "intact", "q25", "q50", "q75", "random"]
    for leak in shown["leaks"]:
        k = next(i for i, p in enumerate(report.plans) if (p.condition, p.seed) == (leak["condition"], 0))
        rows = report.plans[k].partition == "test"
        train = set(report.grouping.codes[report.plans[k].partition == "train"].tolist())
        exposed = [c in train for c in report.grouping.codes[rows].tolist()]
        assert (leak["n"], leak["exposed"]) == (int(rows.sum()), sum(exposed))
        assert sum(c["n"] for c in leak["classes"]) == leak["n"]
        assert sum(c["exposed"] for c in leak["classes"]) == leak["exposed"]
        for model in leak["models"]:
            assert model["exposed"][1] + model["unexposed"][1] == leak["n"]
    intact = shown["leaks"][1]
    assert intact["exposed"] == 0


def test_right_and_wrong_are_counted_on_both_sides(report, shown):
    leak = next(x for x in shown["leaks"] if x["condition"] == "q50")
    run = next(r for r in report.runs if (r.condition, r.seed, r.config.model) == ("q50", 0, "linear_probe"))
    exposure = next(e for e in report.exposures if (e.condition, e.seed) == ("q50", 0))
    plan = report.plan("q50")
    right = {True: 0, False: 0}
    for row, guess in zip(run.rows.tolist(), run.predicted.tolist(), strict=True):
        if plan.partition[row] == "test":
            right[bool(exposure.exposed[row])] += guess == report.samples.labels[row]
    model = next(m for m in leak["models"] if m["field"] == "hsd_q50_pred_linear_probe")
    assert (model["exposed"][0], model["unexposed"][0]) == (right[True], right[False])


@pytest.mark.parametrize("threshold", [0.0, 0.5, 0.9, 0.95, 0.995, 1.0])
def test_a_moved_threshold_counts_what_a_filter_would(report, shown, threshold):
    leak = shown["leaks"][0]
    exposure, plan = report.exposures[0], report.plans[0]
    rows = plan.partition == "test"
    edge = min(edges(), key=lambda e: abs(e - threshold))
    near = np.asarray(exposure.nearest_similarity[rows], float)
    side = exposure.exposed[rows]
    # Rounding lets the cosine of a copy exceed 1 by the last digit.
    expected = {"exposed": int((near[side] >= edge).sum()), "unexposed": int((near[~side] >= edge).sum())}
    if threshold < 1:
        assert above(leak["histogram"], threshold) == expected
    else:
        assert above(leak["histogram"], threshold) == {"exposed": 0, "unexposed": 0}


def test_the_ladder_holds_the_numbers_of_the_report(report, shown):
    first = shown["ladder"]["models"][0]
    assert [r["condition"] for r in first["rows"]] == ["intact", "q25", "q50", "q75", "random"]
    found = [
        e
        for e in report.effects
        if (e.what, e.condition, e.model, e.metric, e.class_name, e.seed)
        == ("inflation", "random", first["model"], shown["ladder"]["metric"], "", None)
    ]
    assert first["rows"][-1]["inflation"] == pytest.approx([found[0].estimate, found[0].low, found[0].high])
    gains = [g["gain"][0] for g in first["gains"] if g["gain"][0] is not None]
    assert gains == sorted(gains, reverse=True)


def test_lists_are_cut_and_the_weakest_come_first(report, shown, monkeypatch):
    scores = [w["score"] for w in shown["groups"]["weakest"]]
    assert scores == sorted(scores)
    from fiftyone_hsd.dataset import overview_groups

    monkeypatch.setattr(overview_groups, "MOST", 3)
    monkeypatch.setattr(module, "MOST_CLASSES", 2)
    cut = overview(report)
    assert len(cut["groups"]["list"]) == 3
    assert len(cut["leaks"][0]["classes"]) == 2
    assert cut["groups"]["list"] == shown["groups"]["list"][:3]


def test_without_dependence_there_is_nothing_to_show(independent_corpus):
    found = overview(audit(independent_corpus / "images", seeds=1, models=("nearest_neighbour",)))
    assert found["groups"]["several"] == 0
    assert found["groups"]["list"] == []
    assert found["groups"]["conflicts"] == []
    assert all(leak["exposed"] == 0 for leak in found["leaks"])


def test_exposed_images_that_are_not_read_out_give_no_dose(report):
    plan, exposure = report.plans[0], report.exposures[0]
    half = exposure.exposed & (np.cumsum(exposure.exposed) % 2 == 0)
    plan = replace(plan, partition=np.where(half, "val", plan.partition))
    exposure = replace(exposure, exposed=half)
    parts = {"plans": (plan, *report.plans[1:]), "exposures": (exposure, *report.exposures[1:])}
    leak = overview(replace(report, **parts))["leaks"][0]
    assert (leak["partition"], leak["exposed"], leak["dose"]) == ("test", 0, None)
    assert leak["n"] > 0
