"""New runs beside old ones: nothing of other images, labels, groups, recipes or descriptors stays."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from fiftyone_hsd import audit, train
from fiftyone_hsd.matched_swap import EFFECT
from fiftyone_hsd.model import Run, RunRecord, TrainConfig
from fiftyone_hsd.train_joining import joined
from fiftyone_hsd.trainers._recipes import BEST

NET = "timm:test_vit"


@pytest.fixture(scope="module")
def report(small_corpus):
    """An audit of one seed with a cheap model."""
    images = small_corpus / "images"
    return audit(images, groups=small_corpus / "truth.csv", seeds=1, models=("nearest_neighbour",))


def trained(report, model, digest):
    """The report with runs of one network under every plan, all of one recipe."""
    runs, records = [], []
    for p in report.plans:
        like = next(r for r in report.runs if (r.condition, r.seed) == (p.condition, p.seed))
        for name in (model, model + BEST):
            config = TrainConfig(name, p.seed)
            runs.append(Run(config, p.condition, p.seed, like.rows, like.probabilities, {}, 1.0))
            records.append(RunRecord(name, p.condition, p.seed, "done", 1.0, 1.0, digest(p)))
    return dataclasses.replace(report, runs=(*report.runs, *runs), run_records=tuple(records)), runs, records


def keys_of(report, digest):
    return {(name, p.condition, p.seed): digest(p) for p in report.plans for name in (NET, NET + BEST)}


def there(report, model):
    return sorted(r.condition for r in report.runs if r.config.model == model)


def warned(report):
    return [n.text for n in report.notes if n.topic == "earlier results"]


def test_runs_of_one_recipe_stay_and_those_of_another_go(report):
    before, runs, records = trained(report, NET, lambda p: f"six {p.digest}")
    plain = dataclasses.replace(report, runs=(), run_records=())
    again = [r for r in runs if r.condition == "intact"]
    told = [r for r in records if r.condition == "intact"]
    same = joined(plain, before, again, told, keys=keys_of(report, lambda p: f"six {p.digest}"))
    assert there(same, NET) == there(same, NET + BEST) == sorted(p.condition for p in report.plans)
    assert warned(same) == []
    new = [dataclasses.replace(r, digest=f"forty {r.digest}") for r in told]
    other = joined(plain, before, again, new, keys=keys_of(report, lambda p: f"forty {p.digest}"))
    assert there(other, NET) == there(other, NET + BEST) == ["intact"]
    assert [r.condition for r in other.run_records if r.model == NET] == ["intact"]
    assert there(other, "nearest_neighbour") == there(report, "nearest_neighbour")
    (text,) = warned(other)
    assert f"{len(report.plans)} runs of timm:test_vit by another recipe" in text
    # A network that is not trained now keeps its runs, whatever their recipe was.
    assert there(joined(plain, before, [], []), NET) == there(same, NET)


def test_cheap_runs_that_looked_at_something_else_go(report):
    plain = dataclasses.replace(report, runs=(), run_records=(), effects=())
    stays = joined(plain, report, [], [], descriptor=report.settings["descriptor"])
    assert there(stays, "nearest_neighbour") == there(report, "nearest_neighbour")
    assert EFFECT in {e.what for e in stays.effects}
    other = joined(plain, report, [], [], descriptor="something else")
    assert there(other, "nearest_neighbour") == []
    assert EFFECT not in {e.what for e in other.effects}
    assert "descriptor" in warned(other)[0]


@pytest.mark.parametrize("what", ["images", "labels"])
def test_nothing_of_other_images_or_labels_stays(report, what):
    before, _, _ = trained(report, NET, lambda p: p.digest)
    plain = dataclasses.replace(report, runs=(), run_records=())
    if what == "images":
        content = ("new", *plain.scan.content[1:])
        plain = dataclasses.replace(plain, scan=dataclasses.replace(plain.scan, content=content))
    else:
        names = tuple(reversed(plain.samples.classes))
        plain = dataclasses.replace(plain, samples=dataclasses.replace(plain.samples, classes=names))
    after = joined(plain, before, [], [])
    assert (after.runs, after.run_records) == ((), ())
    assert f"trained runs of the earlier report spoke of other {what}" in warned(after)[0]


def test_images_that_were_changed_leave_no_old_number(small_corpus, tmp_path):
    from PIL import Image

    source, folder = small_corpus / "images", tmp_path / "images"
    for path in sorted(p for p in source.rglob("*") if p.is_file()):
        to = folder / path.relative_to(source)
        to.parent.mkdir(parents=True, exist_ok=True)
        to.write_bytes(path.read_bytes())
    how = {"pattern": r"(?P<group>P\d+)", "out": tmp_path / "out", "conditions": "endpoints", "seeds": 1}
    first = train(folder, models=("linear_probe",), **how)
    assert {r.config.model for r in first.runs} == {"linear_probe"}
    for k, path in enumerate(sorted(p for p in folder.rglob("*") if p.is_file())):
        Image.fromarray(np.full((32, 32, 3), k % 256, np.uint8)).save(path)
    second = train(folder, models=("nearest_neighbour",), **how)
    assert {r.config.model for r in second.runs} == {"nearest_neighbour"}
    assert {e.model for e in second.effects if e.what == "score"} == {"nearest_neighbour"}
    assert "spoke of other images" in warned(second)[0]
