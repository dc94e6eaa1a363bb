"""What every long operator shares: it runs in the App with a bar, by SDK with a result, delegated with both.

FiftyOne shows neither a result nor an exception of a generator operator by itself, and gives SDK callers no result of
a generator; so this file decides by caller.
"""

from __future__ import annotations

import re
import threading
import time
from functools import partial
from pathlib import Path
from queue import Empty, SimpleQueue

import fiftyone.operators as foo
from fiftyone.operators import types

from fiftyone_hsd import __version__, dataset
from fiftyone_hsd.errors import HsdError, InputError

from . import _scheduling as scheduling

EVERY = 0.4
"""Seconds between two redraws of the bar."""


class LongOperator(foo.Operator):
    """Subclasses give `work(ctx, progress) -> dict`, `outputs(result) -> types.Object` and perhaps `finished`.

    Where `takes_minutes` is set, the App schedules by default if a worker runs, and the form says what happens.
    """

    takes_minutes = False

    def resolve_execution_options(self, ctx):  # noqa: ARG002 - FiftyOne's signature
        """Both ways as the configuration allows them; only the App has a default, calls by SDK say what they want."""
        may = self.config.allow_delegated_execution
        return foo.ExecutionOptions(
            allow_immediate_execution=self.config.allow_immediate_execution,
            allow_delegated_execution=may,
            default_choice_to_delegated=may and self.takes_minutes and scheduling.service() == scheduling.RUNS,
        )

    def resolve_type(self, ctx, type):
        """The form or the result; a form of long work ends with what happens to it."""
        found = super().resolve_type(ctx, type)
        if type == "inputs" and self.takes_minutes and found is not None:
            scheduling.notice(found.type)
        return found

    def execute(self, ctx):
        if ctx.delegated:
            return self._told(ctx, stored_progress(ctx))
        # Requests of the App name the operator's URI, calls by SDK do not.
        if "operator_uri" not in ctx.request_params:
            return self._told(ctx, None)
        return self._shown(ctx)

    def _told(self, ctx, progress):
        """The work, while the dataset's status says that it is going on."""
        if ctx.dataset is None:
            raise InputError("no dataset", "a dataset or view")
        try:
            with dataset.running(ctx.dataset, self.config.label, progress) as tell:
                return self.work(ctx, tell)
        except dataset.Stopped as error:  # no Exception, so it would end a worker as a whole
            raise HsdError(str(error), advice="what was finished is kept where it can go on: run it again") from error

    def resolve_output(self, ctx):
        return self._property(ctx.results or {})

    def finished(self, ctx, result):  # noqa: ARG002 - for subclasses
        """What the App does when the work is done, as operations to yield."""
        yield ctx.ops.reload_dataset()

    def _shown(self, ctx):
        try:
            result = yield from watched(ctx, partial(self._told, ctx))
        except Exception as error:
            yield from failure(ctx, self.config.label, error)
            raise
        yield from self.finished(ctx, result)
        yield ctx.ops.show_output(outputs=self._property(result).to_json(), results=result)

    def _property(self, result):
        return types.Property(self.outputs(result), view=types.View(label=self.config.label))


class Bar:
    """Progress calls as a bar: the share of the present step, and its rate."""

    def __init__(self):
        self._label, self._start, self._from = "", 0.0, 0

    def state(self, done, total, label):
        """Arguments of FiftyOne's set_progress."""
        now = time.monotonic()
        if label != self._label:
            self._label, self._start, self._from = label, now, done
        if not total:
            return {"progress": None, "label": label}
        seconds = now - self._start
        rate = f", {(done - self._from) / seconds:,.0f} a second" if seconds > 1 and done > self._from else ""
        return {"progress": min(1.0, done / total), "label": f"{label}: {done:,} of {total:,}{rate}"}


def stored_progress(ctx):
    """A progress function that stores the bar of a delegated run, at most once in `EVERY` seconds."""
    bar, last = Bar(), [float("-inf")]

    def tell(*state):
        shown = bar.state(*state)
        if time.monotonic() - last[0] > EVERY:
            last[0] = time.monotonic()
            ctx.set_progress(**shown)

    return tell


class Stopped(KeyboardInterrupt):
    """The App no longer listens. Not an Exception, so that no progress guard swallows it."""


def watched(ctx, work):
    """Run `work(progress)` in a thread, yield the bar, return its result or raise its error."""
    news, outcome, stop = SimpleQueue(), {}, threading.Event()

    def tell(*state):
        if stop.is_set():
            raise Stopped
        news.put(state)

    def run():
        try:
            outcome["result"] = work(tell)
        except BaseException as error:
            outcome["error"] = error
        news.put(None)

    thread = threading.Thread(target=run, daemon=True, name="hsd")
    thread.start()
    bar = Bar()
    try:
        yield ctx.ops.set_progress(label="starting", progress=0.0)
        over = False
        while not over:
            time.sleep(EVERY)
            latest = None
            while not over:
                try:
                    state = news.get_nowait()
                except Empty:
                    break
                over = state is None
                latest = state or latest
            if latest is not None:
                shown = bar.state(*latest)
                yield ctx.ops.set_progress(label=shown["label"], progress=shown["progress"])
    finally:
        stop.set()
    if "error" in outcome:
        raise outcome["error"]
    return outcome["result"]


def skew():
    """What to say when the installed package is not of the plugin's version, "" if it is."""
    manifest = (Path(__file__).resolve().parent.parent / "fiftyone.yml").read_text("utf-8")
    found = re.search(r'^version:\s*"?([^"\s]+)', manifest, re.MULTILINE)
    if found is None or found[1] == __version__:
        return ""
    return f"The plugin is version {found[1]}, the installed package {__version__}: pip install -U fiftyone-hsd"


def failure(ctx, label, error):
    """The error as the App's output and as a notification."""
    text = str(error) if isinstance(error, HsdError) else f"{type(error).__name__}: {error}"
    outputs = types.Object()
    outputs.view("error", types.Error(label="This could not be done", description=text))
    prop = types.Property(outputs, view=types.View(label=label))
    yield ctx.ops.show_output(outputs=prop.to_json(), results={})
    yield ctx.ops.notify(f"{label}: {text}", variant="error")
