"""The training loop: steps, validation, checkpoints. Everything random is a function of seed and step.

So a training that goes on from a checkpoint sees the same pictures and drops the same units as one that was never
stopped, whatever the number of reading processes.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..descriptors._network import normalised
from ..errors import InfeasibleError, InputError, MissingExtraError, StoreError
from ..model import Ints
from ..progress import Progress
from ..store import load, save
from . import _checkpoint
from ._building import accelerator, class_weight, data_config, model_of, readers, surroundings
from ._data import ROOM, Order, Pictures, Views, in_batches, seed_of
from ._job import Cost, Job, Trained

DONE = "trained.npz"
CHANCES, ORDER, HEAD = 1, 2, 3
"""Numbers that keep the random streams of one seed apart."""
SAVE_EVERY = 300.0
"""Seconds after which a checkpoint is due."""
TRIAL_STEPS, TRIAL_IMAGES = 3, 64


def train(job: Job, state: Path | None, tell: Progress) -> Trained:
    """Train from the start or from the checkpoint in `state`, and predict.

    Raises:
        MissingExtraError, PathError, FieldError, InputError: the network cannot be had.
        InfeasibleError: the loss is no number any more.
        StoreError: `state` cannot be written.
        StaleError: `state` holds another training.
        MemoryError: the machine or the device has too little memory.
    """
    if state is not None:
        with contextlib.suppress(StoreError):
            done = load(state / DONE, Trained)
            if done.key == job.key:
                return done
    with surroundings():
        training = _Training(job, state)
        result = training.finish(tell)
        if state is not None and training.first:
            save(state / DONE, result)
            _checkpoint.clear(state)
        training.close()  # waits for all processes, so that each of them sees the result from here on
    return result


def measure(job: Job) -> Cost:
    """Seconds of a few steps of a training that is then thrown away."""
    begin = time.perf_counter()
    with surroundings():
        training = _Training(job, None)
        reading = training.read_for(1 + TRIAL_STEPS)
        training.steps_to(1, keep=False)
        ready = time.perf_counter()
        training.steps_to(1 + TRIAL_STEPS, keep=False)
        stepped = time.perf_counter()
        some = job.todo.predict[:TRIAL_IMAGES]
        training.predict(some)
        ended = time.perf_counter()
        training.close()
    images = len(job.todo.train) + len(job.todo.predict)
    return Cost(ready - begin + reading * images, (stepped - ready) / TRIAL_STEPS, (ended - stepped) / len(some))


class _Training:
    """Network, optimiser and place in the job; `first` = the process that writes."""

    def __init__(self, job: Job, state: Path | None) -> None:
        import torch
        from timm.optim import create_optimizer_v2
        from timm.scheduler import create_scheduler_v2

        self._job, self._state, r = job, state, job.recipe
        self._began = time.perf_counter()
        self._machine = accelerator(r)
        self.first = self._machine.is_main_process
        parts = r.accumulate * self._machine.num_processes
        if r.batch % parts:
            raise InputError(
                f"batch = {r.batch} in {parts} parts", "a batch that divides evenly over parts and devices"
            )
        torch.manual_seed(seed_of(job.seed, HEAD))
        model, self._weights = model_of(job)
        self._data = data_config(model, r.size)
        if r.channels_last:
            model = model.to(memory_format=torch.channels_last)
        optimizer = create_optimizer_v2(
            model, opt=r.optimizer, lr=r.lr, weight_decay=r.weight_decay, layer_decay=r.layer_decay or None
        )
        warm = round(r.warmup * job.steps)
        self._schedule, _ = create_scheduler_v2(
            optimizer, r.schedule, num_epochs=job.steps - warm, warmup_epochs=warm, warmup_lr=r.lr / 100,
            warmup_prefix=True, step_on_epochs=False, updates_per_epoch=1,
        )  # fmt: skip
        self._model, self._optimizer = self._machine.prepare(model, optimizer)
        self._weight = class_weight(job, self._machine.device)
        size = self._data["input_size"][-1]
        self._pictures = Pictures(job.samples.paths, ROOM * size)
        self._targets = job.samples.labels.astype(np.int64)
        self.step, self._loss, self._losses = 0, torch.zeros((), device=self._machine.device), 0
        self._history: list[list[float]] = []
        self._failed: set[int] = set()
        self._best: tuple[int, float, Mapping[str, Any] | None] = (0, float("nan"), None)
        self._spent, self._saved = 0.0, time.perf_counter()
        if state is not None:
            self._resume(state)

    def finish(self, tell: Progress) -> Trained:
        """All steps that are left, then the predictions."""
        from accelerate.utils import gather_object

        job = self._job
        rows = np.concatenate([job.todo.train, job.todo.predict])
        tell(0, 0, "reading images")
        self._pictures.keep(rows, readers(job.recipe, self._machine.device.type) or os.cpu_count() or 1)
        self.steps_to(job.steps, tell=tell)
        tell(0, 0, "predicting")
        last = self.predict(job.todo.predict)
        best_step, score, weights = self._best
        best = last
        if weights is not None and best_step != job.steps:
            self._machine.unwrap_model(self._model).load_state_dict(weights)
            best = self.predict(job.todo.predict)
        if self._machine.num_processes > 1:
            self._failed = set(gather_object(sorted(self._failed)))
        device = self._machine.device.type
        words = f"{self._machine.num_processes} x {device}, precision {self._machine.mixed_precision}"
        failed = np.array(sorted(self._failed), np.int64)
        return Trained(
            job.key, job.todo.predict, last, best, best_step, score, failed, self._seconds(), words, self._weights
        )

    def read_for(self, steps: int) -> float:
        """Read the pictures of the first steps; seconds for one."""
        r = self._job.recipe
        order = Order(self._job.todo.train, seed_of(self._job.seed, ORDER), r.batch, 1, 0, steps)
        rows = np.unique(np.concatenate([order.step(k) for k in range(steps)]))
        begin = time.perf_counter()
        self._pictures.keep(rows, os.cpu_count() or 1)
        return (time.perf_counter() - begin) / len(rows)

    def steps_to(self, end: int, *, keep: bool = True, tell: Progress | None = None) -> None:
        """Train up to step `end`; with `keep`, look at validation and write checkpoints on the way."""
        job, r = self._job, self._job.recipe
        looks = {round(job.steps * (k + 1) / r.validations) for k in range(r.validations)} - {0}
        for batch in self._batches(self.step, end):
            self._optimise(batch)
            self.step += 1
            if tell is not None:
                tell(self.step, job.steps, "training")
            if keep and self.step in looks:
                self._look()
            asked = r.checkpoint_steps and self.step % r.checkpoint_steps == 0
            if keep and (self.step in looks or asked or time.perf_counter() - self._saved > SAVE_EVERY):
                self._save()

    def _optimise(self, parts: list[Any]) -> None:
        """One optimiser step over the parts of one batch."""
        import torch

        self._schedule.step_update(self.step)
        torch.manual_seed(seed_of(self._job.seed, self.step, CHANCES, self._machine.process_index))
        for images, targets, rows in parts:
            self._failed |= {int(i) for i in rows[targets < 0]}
            with self._machine.accumulate(self._model):
                loss = self._loss_of(self._model(self._input(images)), targets.to(self._machine.device))
                self._machine.backward(loss)
                if self._machine.sync_gradients and self._job.recipe.clip:
                    self._machine.clip_grad_norm_(self._model.parameters(), self._job.recipe.clip)
                self._optimizer.step()
                self._optimizer.zero_grad()
                self._loss += loss.detach()
                self._losses += 1

    def _loss_of(self, scores: Any, targets: Any) -> Any:
        from torch.nn.functional import cross_entropy

        total = cross_entropy(
            scores.float(), targets, self._weight, ignore_index=-100, reduction="sum",
            label_smoothing=self._job.recipe.smoothing,
        )  # fmt: skip
        known = targets >= 0
        # The mean over readable images, 0 where there is none.
        return total / self._weight[targets.clamp(min=0)].mul(known).sum().clamp(min=1e-6)

    def _input(self, images: Any) -> Any:
        import torch

        x = normalised(images.to(self._machine.device, non_blocking=True), self._data["mean"], self._data["std"])
        return x.contiguous(memory_format=torch.channels_last) if self._job.recipe.channels_last else x

    def _batches(self, first: int, last: int) -> Iterator[list[Any]]:
        """The loaded parts of each step."""
        r, m = self._job.recipe, self._machine
        order = Order(
            self._job.todo.train, seed_of(self._job.seed, ORDER), r.batch, r.accumulate, first, last,
            m.process_index, m.num_processes,
        )  # fmt: skip
        loaded = iter(self._loader(order, training=True))
        for _ in range(first, last):
            yield [next(loaded) for _ in range(r.accumulate)]

    def _loader(self, batches: Any, *, training: bool) -> Any:
        from timm.data import create_transform
        from torch.utils.data import DataLoader

        r, size = self._job.recipe, self._data["input_size"][-1]
        extra = {"scale": (r.crop, 1.0), "hflip": r.hflip, "vflip": r.vflip, "color_jitter": r.jitter or None}
        transform = create_transform(**self._data, is_training=training, normalize=False, **(extra if training else {}))
        views = Views(self._pictures, self._targets, transform, size, self._job.seed if training else None)
        device = self._machine.device.type
        workers = readers(r, device)
        return DataLoader(views, batch_sampler=batches, num_workers=workers, pin_memory=device == "cuda")

    def predict(self, rows: Ints) -> NDArray[np.float32]:
        """float32 (len(rows), C); classes absent from train get 0, images that cannot be read the shares of train."""
        import torch
        from accelerate.utils import gather_object

        job, r, m = self._job, self._job.recipe, self._machine
        classes = len(job.samples.classes)
        absent = torch.ones(classes, dtype=torch.bool, device=m.device)
        absent[torch.as_tensor(job.todo.present, device=m.device)] = False
        size = max(1, 2 * r.batch // (r.accumulate * m.num_processes))
        batches = in_batches(rows, size, m.process_index, m.num_processes)
        model = m.unwrap_model(self._model)  # the wrapper of several processes would wait for equally many batches
        self._share_statistics(model)
        model.eval()
        found: list[tuple[list[int], list[bool], Any]] = []
        with torch.inference_mode():
            for images, targets, at in self._loader(batches, training=False):
                scores = model(self._input(images)).float().masked_fill(absent, float("-inf"))
                found.append((at.tolist(), (targets < 0).tolist(), scores.softmax(1).cpu().numpy()))
        model.train()
        if m.num_processes > 1:
            found = gather_object(found)
        shares = np.bincount(job.samples.labels[job.todo.train], minlength=classes) / len(job.todo.train)
        place = {int(row): i for i, row in enumerate(rows)}
        result = np.zeros((len(rows), classes), np.float32)
        for at, bad, chances in found:
            for row, broken, chance in zip(at, bad, chances, strict=True):
                result[place[row]] = shares if broken else chance
                if broken:
                    self._failed.add(row)
        return result

    def _share_statistics(self, model: Any) -> None:
        """Running statistics as the first process has them, which is what checkpoints hold."""
        from accelerate.utils import broadcast

        if self._machine.num_processes > 1:
            for buffer in model.buffers():
                buffer.copy_(broadcast(buffer, from_process=0))

    def _look(self) -> None:
        """The log, the validation score, and whether it is the best so far (the earliest of equal ones)."""
        mean = float(self._loss / max(1, self._losses))
        if not np.isfinite(mean):
            raise InfeasibleError(f"the loss became {mean} before step {self.step}", advice="try a smaller lr")
        self._loss.zero_()
        self._losses, score = 0, float("nan")
        if len(self._job.val):
            truth = self._job.samples.labels[self._job.val]
            right = self.predict(self._job.val).argmax(1) == truth
            score = float(np.mean([right[truth == c].mean() for c in np.unique(truth)]))
            if not self._best[0] or score > self._best[1]:
                model = self._machine.unwrap_model(self._model)
                copy = {k: v.detach().cpu().clone() for k, v in model.state_dict().items()}
                self._best = (self.step, score, copy)
        rate = max(g["lr"] for g in self._optimizer.param_groups)
        self._history.append([float(self.step), float(rate), mean, score, self._seconds()])
        if self._job.recipe.tensorboard and self._state is not None and self.first:
            _board(self._state, self._history[-1])

    def _seconds(self) -> float:
        return self._spent + time.perf_counter() - self._began

    def _save(self) -> None:
        if self._state is None or not self.first:
            return
        scaler = self._machine.scaler
        state = {
            "key": self._job.key,
            "step": self.step,
            "model": self._machine.unwrap_model(self._model).state_dict(),
            "optimizer": self._optimizer.state_dict(),
            "scaler": {} if scaler is None else scaler.state_dict(),
            "best_step": self._best[0],
            "best_score": self._best[1],
            "history": self._history,
            "failed": sorted(self._failed),
            "loss": self._loss.cpu(),
            "losses": self._losses,
            "seconds": self._seconds(),
        }
        _checkpoint.write(self._state, state, self._best[2])
        self._saved = time.perf_counter()

    def _resume(self, folder: Path) -> None:
        found = _checkpoint.read(folder, self._job.key)
        if found is None:
            return
        state, best = found
        self._machine.unwrap_model(self._model).load_state_dict(state["model"])
        self._optimizer.load_state_dict(state["optimizer"])
        if self._machine.scaler is not None and state["scaler"]:
            self._machine.scaler.load_state_dict(state["scaler"])
        self.step, self._losses = int(state["step"]), int(state["losses"])
        self._loss.copy_(state["loss"])
        self._best = (int(state["best_step"]), float(state["best_score"]), best)
        self._history, self._failed = list(state["history"]), set(state["failed"])
        self._spent = float(state["seconds"])

    def close(self) -> None:
        """Wait for all processes; let go of memory, and of what Accelerate keeps for the whole process."""
        from accelerate.state import AcceleratorState, GradientState

        self._machine.wait_for_everyone()
        self._machine.free_memory()
        if self._machine.num_processes == 1:
            AcceleratorState._reset_state(reset_partial_state=True)
            GradientState._reset_state()


def _board(folder: Path, row: list[float]) -> None:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("the log for TensorBoard needs it", advice="pip install tensorboard") from error
    with SummaryWriter(str(folder / "tensorboard"), purge_step=int(row[0])) as writer:
        for name, value in zip(_checkpoint.COLUMNS.split(",")[1:], row[1:], strict=True):
            if value == value:
                writer.add_scalar(name, value, int(row[0]))
