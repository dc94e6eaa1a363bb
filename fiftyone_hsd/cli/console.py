"""The terminal: text that cannot break it, and progress with rates."""

from __future__ import annotations

import contextlib
import io
import math
import os
import sys
import time
from collections.abc import Iterator

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskID, TextColumn, TimeRemainingColumn
from rich.text import Text

from ..progress import Progress as Tell

SAY_EVERY = 5.0
"""Seconds between progress lines where stderr is no terminal."""


def clean(text: str) -> str:
    """Text that cannot steer a terminal: control characters and undecodable bytes are shown as escapes."""
    return "".join(
        c if c.isprintable() or c == "\n" else c.encode("unicode_escape", "surrogatepass").decode() for c in text
    )


def cell(text: str) -> Text:
    return Text(clean(text).replace("\n", r"\n"), overflow="fold")


class Out(Console):
    """stdout; text is printed as it is, never read as markup."""

    def __init__(self, *, stderr: bool = False) -> None:
        super().__init__(stderr=stderr, highlight=False, emoji=False, markup=False, soft_wrap=False)

    def say(self, text: str, style: str = "", rest: str = "") -> None:
        """One paragraph: `text` in a style, then `rest` without one."""
        self.print(Text.assemble((clean(text), style), clean(rest).replace("\n", r"\n")), soft_wrap=True)

    def on_broken_pipe(self) -> None:
        """A reader that has seen enough (`| head`) is no failure: the work is done and keeps its exit code."""
        self.quiet = True
        with contextlib.suppress(OSError, io.UnsupportedOperation):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


@contextlib.contextmanager
def progress(quiet: bool) -> Iterator[Tell | None]:
    """Bars with rate and time left on a terminal, a line now and then elsewhere."""
    console = Out(stderr=True)
    if quiet:
        yield None
    elif not console.is_terminal:
        yield _Lines(console)
    else:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
        )
        with Progress(*columns, TimeRemainingColumn(elapsed_when_finished=True), console=console) as bars:
            shown = _Bars(bars)
            yield shown
            shown.finish()


class _Rate:
    """Steps a second of the label in progress."""

    def __init__(self) -> None:
        self.label, self.start, self.first = "", time.monotonic(), 0

    def enter(self, label: str, done: int) -> bool:
        """True if this is a new label."""
        if label == self.label:
            return False
        self.label, self.start, self.first = label, time.monotonic(), done
        return True

    def words(self, done: int, total: int) -> tuple[str, str]:
        """("12/s", "3 s left"), empty where they cannot be told yet."""
        spent, steps = time.monotonic() - self.start, done - self.first
        if spent < 0.5 or steps <= 0:
            return "", ""
        rate = steps / spent
        left = f"{math.ceil((total - done) / rate)} s left" if total > done else ""
        return (f"{rate:.0f}/s" if rate >= 10 else f"{rate:.1f}/s"), left


class _Bars:
    def __init__(self, bars: Progress) -> None:
        self._bars, self._rate, self._task, self._total = bars, _Rate(), TaskID(0), 0

    def __call__(self, done: int, total: int, label: str) -> None:
        if self._rate.enter(label, done):
            self.finish()
            name = clean(label).replace("[", r"\[")
            self._task = self._bars.add_task(name, total=total or None, rate="")
        self._total = total
        self._bars.update(self._task, completed=done, total=total or None, rate=self._rate.words(done, total)[0])

    def finish(self) -> None:
        """Fill the bar in progress: the next step began, or all is done."""
        if self._bars.tasks:
            self._bars.update(self._task, total=self._total or 1, completed=self._total or 1)


class _Lines:
    def __init__(self, console: Out) -> None:
        self._console, self._rate, self._last = console, _Rate(), 0.0

    def __call__(self, done: int, total: int, label: str) -> None:
        now = time.monotonic()
        if not self._rate.enter(label, done) and now - self._last < SAY_EVERY:
            return
        self._last = now
        words = [f"{done}/{total}" if total else "", *self._rate.words(done, total)]
        self._console.say(" ".join([label, *(w for w in words if w)]))


def error(text: str, style: str = "bold red") -> None:
    Out(stderr=True).say("hsd: ", style, text)
