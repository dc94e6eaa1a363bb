"""Fine-tuning: the same seed, the same predictions; stopped or not; whatever is wrong with a picture."""

from __future__ import annotations

import csv
import dataclasses
import random
import sys
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd import trainers
from fiftyone_hsd.errors import FieldError, InputError, PathError, StaleError, StoreError
from fiftyone_hsd.model import Descriptors, Run, Samples, SplitPlan, TrainConfig
from fiftyone_hsd.trainers._job import Job
from fiftyone_hsd.trainers.timm_finetune import timm_finetune

pytest.importorskip("torch"), pytest.importorskip("timm"), pytest.importorskip("accelerate")
pytestmark = pytest.mark.train

QUICK = {"steps": 6, "batch": 8, "size": 32, "validations": 3, "lr": 2e-3}
BEST = " (best val)"
NONE = Descriptors("none", np.zeros((0, 1), np.float32))


@pytest.fixture
def model(tiny_weights: Path) -> str:
    return f"timm:test_vit@{tiny_weights}"


def fit(
    model: str, corpus: tuple[Samples, SplitPlan], state: Path | None = None, seed: int = 0, **options: object
) -> Run:
    config = TrainConfig(model, seed, tuple({**QUICK, **options}.items()))
    return timm_finetune(*corpus, NONE, config, state=state)


def log(state: Path) -> list[dict[str, str]]:
    with (state / "log.csv").open() as file:
        return list(csv.DictReader(file))


def test_it_learns_colours(model, coloured):
    samples, plan = coloured
    run = fit(model, coloured, steps=25, batch=16, jitter=0, smoothing=0)
    outside = (plan.partition != "train") & (plan.partition != "unused")
    assert run.rows.tolist() == np.flatnonzero(outside).tolist()
    assert run.probabilities.sum(1) == pytest.approx(1, abs=1e-5)
    assert (run.predicted == samples.labels[run.rows]).mean() > 0.9
    assert {"torch", "timm", "accelerate"} <= set(run.versions)


def test_one_seed_gives_identical_predictions_and_leaves_the_generators_alone(model, coloured):
    import torch

    before = random.getstate(), torch.get_rng_state()
    first, second, other = fit(model, coloured), fit(model, coloured), fit(model, coloured, seed=1)
    assert np.array_equal(first.probabilities, second.probabilities)
    assert not np.array_equal(first.probabilities, other.probabilities)
    assert random.getstate() == before[0]
    assert torch.equal(torch.get_rng_state(), before[1])


def test_the_order_of_rows_and_the_number_of_readers_do_not_matter(model, coloured):
    samples, plan = coloured
    order = np.random.default_rng(1).permutation(len(samples))
    run, readers = fit(model, coloured), fit(model, coloured, workers=1)
    assert np.array_equal(run.probabilities, readers.probabilities)
    moved = samples.take(order), SplitPlan.of("intact", 0, plan.partition[order], samples.take(order).ids)
    other = fit(model, moved)
    back = {samples.ids[r]: p.tolist() for r, p in zip(run.rows, run.probabilities, strict=True)}
    assert all(back[moved[0].ids[r]] == p.tolist() for r, p in zip(other.rows, other.probabilities, strict=True))


@pytest.mark.parametrize("stop", [1, 4])
def test_a_stopped_training_ends_as_one_that_was_not(model, coloured, tmp_path, stop):
    options = {"checkpoint_steps": 1, "drop_path": 0.2}
    config = TrainConfig(model, 0, tuple({**QUICK, **options}.items()))
    seen = []

    def interrupt(done: int, total: int, label: str) -> None:
        if label == "training":
            seen.append(done)
        if seen == list(range(1, stop + 1)):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timm_finetune(*coloured, NONE, config, progress=interrupt, state=tmp_path)
    run = timm_finetune(
        *coloured, NONE, config, state=tmp_path, progress=lambda d, t, w: seen.append(d) if w == "training" else None
    )
    # The step during which it was stopped had no checkpoint yet.
    assert seen == [*range(1, stop + 1), *range(stop, 7)]
    undisturbed = fit(model, coloured, **options)
    assert np.array_equal(run.probabilities, undisturbed.probabilities)
    assert not list(tmp_path.glob("*.pt"))
    again = timm_finetune(*coloured, NONE, config, state=tmp_path, progress=lambda d, t, w: seen.append(-1))
    assert -1 not in seen
    assert np.array_equal(run.probabilities, again.probabilities)


def test_both_readouts_come_from_one_training(model, coloured, tmp_path):
    samples, plan = coloured
    options = {"steps": 12, "validations": 6, "lr": 0.02, "warmup": 0}
    last = fit(model, coloured, tmp_path, **options)
    best = fit(model + BEST, coloured, tmp_path, **options)
    assert (last.config.model, best.config.model) == (model, model + BEST)
    val = plan.partition[last.rows] == "val"
    truth = samples.labels[last.rows][val]
    scores = [float(row["val_balanced_accuracy"]) for row in log(tmp_path)]

    def balanced(run: Run) -> float:
        return float(np.mean([(run.predicted[val] == truth)[truth == c].mean() for c in range(3)]))

    assert balanced(best) == pytest.approx(max(scores))
    assert balanced(last) == pytest.approx(scores[-1])
    alone = fit(model + BEST, coloured, **options)
    assert np.array_equal(alone.probabilities, best.probabilities)


def test_all_conditions_take_the_same_number_of_steps(model, coloured, tmp_path):
    samples, plan = coloured
    fewer = np.where(np.arange(len(samples)) % 9 < 3, "test", plan.partition)
    for k, partition in enumerate((plan.partition, fewer)):
        other = samples, SplitPlan.of(f"c{k}", 0, partition, samples.ids)
        fit(model, other, tmp_path / str(k), steps=0, epochs=1)
    # 90 labelled images x 70 % / 8 a step
    assert [log(tmp_path / k)[-1]["step"] for k in "01"] == ["8", "8"]


def test_parts_of_a_batch_add_up_to_the_batch(model, coloured):
    whole, parts = (fit(model, coloured, accumulate=k, jitter=0) for k in (1, 4))
    np.testing.assert_allclose(whole.probabilities, parts.probabilities, atol=1e-3)


def test_half_precision_is_close_and_said(model, coloured):
    full, half = fit(model, coloured), fit(model, coloured, precision="bf16")
    np.testing.assert_allclose(full.probabilities, half.probabilities, atol=0.1)
    assert any("precision bf16" in n.text for n in half.notes)
    assert not np.array_equal(full.probabilities, half.probabilities)


def test_bad_pictures_never_stop_a_training(model, coloured, tmp_path):
    samples, plan = coloured
    paths = list(samples.paths)
    train, test = (int(plan.rows(p)[0]) for p in ("train", "test"))
    (tmp_path / "broken.png").write_bytes(Path(paths[train]).read_bytes()[:60])
    paths[train], paths[test] = str(tmp_path / "broken.png"), str(tmp_path / "gone.png")
    run = fit(model, (dataclasses.replace(samples, paths=tuple(paths)), plan), epochs=1, steps=0)
    shares = np.bincount(samples.labels[plan.rows("train")], minlength=3) / len(plan.rows("train"))
    assert run.probabilities[run.rows.tolist().index(test)] == pytest.approx(shares)
    note = next(n for n in run.notes if n.level == "warning")
    assert (note.count, set(note.examples)) == (2, {samples.ids[train], samples.ids[test]})


def test_a_class_without_train_samples_has_probability_zero(model, coloured):
    samples, plan = coloured
    part = np.where((samples.labels == 2) & (plan.partition == "train"), "test", plan.partition)
    run = fit(model, (samples, SplitPlan.of("intact", 0, part, samples.ids)))
    assert (run.probabilities[:, 2] == 0).all()
    assert run.probabilities.sum(1) == pytest.approx(1, abs=1e-5)
    assert ("warning", ("blue",)) in [(n.level, n.examples) for n in run.notes]


def test_without_validation_the_best_is_the_last_and_that_is_said(model, coloured):
    samples, plan = coloured
    part = np.where(plan.partition == "val", "unused", plan.partition)
    corpus = samples, SplitPlan.of("existing", 0, part, samples.ids)
    best, last = fit(model + BEST, corpus), fit(model, corpus)
    assert np.array_equal(best.probabilities, last.probabilities)
    assert any("no validation partition" in n.text for n in best.notes)


def test_balanced_weights_make_classes_count_alike(coloured):
    from fiftyone_hsd.trainers._building import class_weight
    from fiftyone_hsd.trainers._recipes import recipe

    samples, plan = coloured
    part = plan.partition.copy()
    part[np.flatnonzero((samples.labels == 2) & (part == "train"))[2:]] = "unused"
    todo = trainers.task(samples, SplitPlan.of("intact", 0, part, samples.ids))
    counts = np.bincount(samples.labels[todo.train])
    for wanted, expected in (("none", [1, 1, 1]), ("balanced", [sum(counts) / 3 / c for c in counts])):
        config = TrainConfig("vit", 0, (("class_weights", wanted),))
        job = Job(recipe(config), "", 0, samples, todo, todo.predict[:0], 1, "")
        assert class_weight(job, "cpu").numpy() == pytest.approx(expected)


def test_the_log_goes_to_tensorboard_on_request_and_changes_nothing(model, coloured, tmp_path):
    pytest.importorskip("tensorboard")
    run = fit(model, coloured, tmp_path, tensorboard=True)
    assert np.array_equal(run.probabilities, fit(model, coloured).probabilities)
    assert list((tmp_path / "tensorboard").glob("events*"))


def test_a_checkpoint_never_runs_code(model, coloured, tmp_path):
    (tmp_path / "last.pt").write_bytes(b"cos\nsystem\n(S'touch " + str(tmp_path / "ran").encode() + b"'\ntR.")
    fit(model, coloured, tmp_path)
    assert not (tmp_path / "ran").exists()


@pytest.mark.skipif(sys.platform != "linux", reason="these limits are Linux's")
def test_limits_of_the_machine_are_named_and_a_full_disk_can_be_mended(model, coloured, tmp_path):
    import resource

    def limited(kind: int, most: int, **options: object) -> Run:
        before = resource.getrlimit(kind)
        resource.setrlimit(kind, (most, before[1]))
        try:
            return fit(model, coloured, tmp_path, **options)
        finally:
            resource.setrlimit(kind, before)

    # A checkpoint of this network takes 4 MB.
    with pytest.raises(StoreError, match="cannot be written"):
        limited(resource.RLIMIT_FSIZE, 1 << 20)
    assert np.array_equal(fit(model, coloured, tmp_path).probabilities, fit(model, coloured).probabilities)
    taken = next(int(w.split()[1]) for w in Path("/proc/self/status").read_text().splitlines() if "VmData" in w)
    with pytest.raises(MemoryError, match="memory"):
        limited(resource.RLIMIT_DATA, (taken << 10) + (32 << 20), batch=256, size=96, seed=1)


def test_a_folder_of_another_training_is_refused(model, coloured, tmp_path):
    config = TrainConfig(model, 0, tuple({**QUICK, "checkpoint_steps": 1}.items()))

    def interrupt(done: int, total: int, label: str) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        timm_finetune(*coloured, NONE, config, progress=interrupt, state=tmp_path)
    with pytest.raises(StaleError):
        fit(model, coloured, tmp_path, seed=7)


def test_what_is_not_there_is_said(model, coloured, tmp_path):
    with pytest.raises(InputError, match="no option stepz"):
        fit(model, coloured, stepz=3)
    with pytest.raises(InputError, match="whole number"):
        fit(model, coloured, steps="many")
    with pytest.raises(InputError, match="divides evenly"):
        fit(model, coloured, batch=9, accumulate=2)
    with pytest.raises(PathError, match="no file"):
        fit(f"timm:test_vit@{tmp_path / 'none'}", coloured)
    with pytest.raises(FieldError, match="no network"):
        fit("timm:no_such_network", coloured)
    with pytest.raises(InputError, match="does not fit"):
        fit(model.replace("test_vit", "test_resnet"), coloured)


@pytest.mark.parametrize(
    "name", ["vit", "resnet50", "lite0", "timm:x", "timm:x@/a/b.pt", "vit@w.pt", "timm:x (best val)"]
)
def test_names_of_networks_lead_here(name):
    assert trainers.by_name(name) is timm_finetune


@pytest.mark.parametrize("name", ["timm:", "timm", "vits", "linear_probe (best val)"])
def test_other_names_do_not(name):
    with pytest.raises(FieldError, match="vit"):
        trainers.by_name(name)
