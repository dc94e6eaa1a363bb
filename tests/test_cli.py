"""The command line: options, exit codes, what goes where, and text that cannot steer the terminal."""

from __future__ import annotations

import contextlib
import dataclasses
import io
import json
import os
import pty
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st

from fiftyone_hsd import __version__, cli
from fiftyone_hsd.cli import console
from fiftyone_hsd.drawn import PATTERN, SMALL, draw
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.settings import Settings

COMMAND = [sys.executable, "-m", "fiftyone_hsd.cli"]
ODD = "\x1b[31mred [bold]x[-] \x07\n{}<b>$ü.png"


@pytest.fixture
def hsd(capfd):
    """Run a command in this process: (exit code, stdout, stderr)."""

    def run(*words: str) -> tuple[int, str, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(w) for w in words])
        out, err = capfd.readouterr()
        return int(ended.value.code or 0), out, err

    return run


@pytest.fixture(scope="module")
def audited(small_corpus, tmp_path_factory):
    """One audit of the small corpus by `hsd audit`, in a process of its own: (completed process, out)."""
    out = tmp_path_factory.mktemp("audited")
    words = ["audit", str(small_corpus / "images"), "--pattern", PATTERN, "--seeds", "2", "--out", str(out)]
    return subprocess.run([*COMMAND, *words], capture_output=True, text=True, check=False), out


def options_of(command: str) -> dict[str, object]:
    group = typer.main.get_command(cli.app)
    return {p.name: p for p in group.commands[command].params}


def test_options_and_defaults_are_those_of_settings():
    options = options_of("audit")
    for field in dataclasses.fields(Settings):
        option = options[field.name]
        assert f"--{field.name.replace('_', '-')}" in option.opts
        default = option.default
        if field.name == "models":
            default = tuple(default.split(","))
        elif field.name == "fractions":
            default = cli.parse_fractions(default)
        assert default == getattr(Settings(), field.name), field.name
        assert option.help
    assert set(options) - {f.name for f in dataclasses.fields(Settings)} == {"path", "out", "quiet", "fail_on"}
    assert str(options["fail_on"].default) == "never"


def test_every_option_reaches_the_audit(tmp_path, small_corpus, hsd):
    truth = small_corpus / "truth.csv"
    code, _, err = hsd(
        *("audit", small_corpus / "images", "--groups", truth, "--labels", truth, "--models", "nearest_neighbour"),
        *("--seeds", "1", "--fractions", "train=.6,test=.4", "--descriptor", "colour_histogram", "--truth", truth),
        *("--unknown", "refuse", "--out", tmp_path / "o", "-q"),
    )
    assert code == 0, err
    told = json.loads((tmp_path / "o" / "report.json").read_text())["settings"]
    expected = dataclasses.asdict(
        Settings(
            groups=str(truth),
            labels=str(truth),
            models=("nearest_neighbour",),
            seeds=1,
            fractions={"train": 0.6, "test": 0.4},
            unknown="refuse",
            truth=str(truth),
        )
    )
    assert {k: list(v) if isinstance(v, tuple) else v for k, v in expected.items()} == {k: told[k] for k in expected}


def test_version_and_help(hsd):
    assert hsd("--version") == (0, f"fiftyone-hsd {__version__}\n", "")
    code, out, _ = hsd("--help")
    assert code == 0
    assert all(f"\n  {word}" in out for word in ("audit", "demo", "doctor"))
    code, out, err = hsd()
    assert code == 2
    assert "Usage: hsd" in out + err


def test_an_audit_says_verdict_on_stdout_and_progress_on_stderr(audited):
    done, out = audited
    assert done.returncode == 0, done.stderr
    assert "share a group with another" in done.stdout
    assert "change from intact" in done.stdout
    assert "random" in done.stdout
    assert str(out / "report.html") in done.stdout
    assert (out / "report.html").stat().st_size > 10_000
    assert "reading images" in done.stderr
    assert not set(done.stdout.splitlines()) & set(done.stderr.splitlines()) - {""}
    assert "\x1b" not in done.stdout + done.stderr


def test_quiet_says_nothing_on_stderr(small_corpus, hsd):
    code, out, err = hsd("audit", small_corpus / "images", "--seeds", "1", "--quiet")
    assert (code, err) == (0, "")
    assert "Nothing was written" in out
    # Of one seed there is no mean, but its exposure stands in the table all the same.
    rows = [line.split() for line in out.splitlines() if line.strip().startswith(("existing ", "intact ", "random "))]
    assert rows
    assert all(row[1].endswith("%") for row in rows)


@pytest.mark.parametrize(
    ("corpus", "fail_on", "code"),
    [
        ("small_corpus", "never", 0),
        ("small_corpus", "exposed", 1),
        ("small_corpus", "inflation", 1),
        ("independent_corpus", "exposed", 0),
        ("independent_corpus", "inflation", 0),
    ],
)
def test_fail_on(request, hsd, corpus, fail_on, code):
    images = request.getfixturevalue(corpus) / "images"
    words = [] if corpus == "independent_corpus" else ["--pattern", PATTERN]
    assert hsd("audit", images, *words, "--fail-on", fail_on, "-q", "--models", "nearest_neighbour")[0] == code


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("audit", "no/such/place"), "no/such/place"),
        (("audit", "{here}", "--groups", "no.csv"), "no.csv"),
        (("audit", "{here}", "--group-field", "nonsense"), "nonsense"),
        (("audit", "{here}", "--pattern", "(?P<group>"), "pattern"),
        (("audit", "{here}", "--models", "resnet"), "nearest_neighbour"),
        (("audit", "{here}", "--descriptor", "x"), "colour_histogram"),
        (("audit", "{here}", "--seeds", "0"), "1 to 1000"),
        (("audit", "{here}", "--fractions", "train=1"), "train"),
        (("audit", "{here}", "--fractions", "train"), "train=.7"),
        (("audit", "{here}", "--label-field", "x"), "label_field"),
        (("audit", "{here}", "--no-names", "--unknown", "refuse"), "group"),
        (("audit", "{here}", "--fail-on", "maybe"), "never"),
        (("audit", "{here}", "--no-such-option"), "no-such-option"),
        (("audit",), "PATH"),
        (("nonsense",), "nonsense"),
    ],
)
def test_what_cannot_run_ends_with_2_and_says_why(small_corpus, hsd, words, said):
    code, out, err = hsd(*(w.replace("{here}", str(small_corpus / "images")) for w in words))
    assert code == 2
    assert said.lower() in err.lower()
    assert out == ""
    assert "Traceback" not in err


def test_an_unexpected_error_advises_and_shows_its_traceback_only_on_request(capfd):
    with pytest.raises(ZeroDivisionError) as caught:
        raise ZeroDivisionError("\x1b[2J")
    assert cli._unexpected(caught.value, debug=False) == 2
    plain = capfd.readouterr().err
    assert cli._unexpected(caught.value, debug=True) == 2
    full = capfd.readouterr().err
    assert "--debug" in plain
    assert "Traceback" not in plain
    assert "\x1b" not in plain
    assert "Traceback" in full
    assert "test_cli.py" in full


def test_debug_may_stand_anywhere(hsd):
    for words in (("--debug", "audit", "no/where"), ("audit", "no/where", "--debug")):
        code, _, err = hsd(*words)
        assert code == 2
        assert "no/where" in err


def test_file_names_cannot_steer_the_terminal(tmp_path, small_corpus, hsd):
    shutil.copytree(small_corpus / "images", tmp_path / "c")
    folder = next(p for p in (tmp_path / "c" / "TRAIN").iterdir())
    (folder / ODD).write_bytes(b"\x89PNG\r\n\x1a\n broken")
    twice = next(folder.glob("P*.jpg"))
    (folder / f"\x1b]0;title\x07{twice.name}").write_bytes(twice.read_bytes())
    Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.png")).write_bytes(b"\x89PNG\r\n\x1a\n broken")
    code, out, err = hsd("audit", tmp_path / "c", "--seeds", "1", "--models", "nearest_neighbour")
    assert code == 0, err
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]", out + err)
    assert r"\x1b[31mred [bold]x[-] \x07\n{}<b>$ü.png" in out
    assert r"\udcff\udcfe.png" in out


@given(st.text())
def test_clean_text_is_printable_and_keeps_what_was_printable(text):
    shown = console.clean(text)
    assert all(c.isprintable() or c == "\n" for c in shown)
    if text.isprintable():
        assert shown == text


@given(st.dictionaries(st.from_regex(r"[a-z]{1,8}", fullmatch=True), st.floats(0.01, 1), min_size=1))
def test_fractions_are_read_as_they_were_written(shares):
    text = ", ".join(f"{k}= {v!r}" for k, v in shares.items())
    assert cli.parse_fractions(text) == shares


@pytest.mark.parametrize("text", ["", "train", "train=", "=.5", "train=.5,train=.5", "train=nan", "train=x,val=.1"])
def test_wrong_fractions_are_refused(text):
    with pytest.raises(InputError, match=r"train=\.7"):
        cli.parse_fractions(text)


def _hears_ctrl_c():
    """Whoever runs the tests in the background of a shell hands an ignored SIGINT down to them."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_a_stopped_audit_says_how_to_go_on_and_goes_on(tmp_path, small_corpus):
    words = [*COMMAND, "audit", str(small_corpus / "images"), "--pattern", PATTERN, "--seeds", "20"]
    words += ["--models", "nearest_neighbour", "--out"]
    pipes = {"stderr": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([*words, str(tmp_path / "a")], **pipes, preexec_fn=_hears_ctrl_c)
    runs = tmp_path / "a" / ".hsd" / "runs"
    for _ in range(60_000):
        if process.poll() is not None or (runs.is_dir() and len(list(runs.iterdir())) >= 3):
            break
        time.sleep(0.005)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert process.returncode == 130, err
    assert out == ""
    assert "same command again" in err
    assert str(tmp_path / "a" / ".hsd") in err
    assert "Traceback" not in err
    kept = {p.name: p.stat().st_mtime_ns for p in runs.glob("*.npz")}
    assert len(kept) >= 2
    assert not (tmp_path / "a" / "report.html").exists()
    for name in ("a", "b"):
        subprocess.run([*words, str(tmp_path / name)], check=True, capture_output=True)
    assert {p.name: p.stat().st_mtime_ns for p in runs.glob("*.npz") if p.name in kept} == kept
    assert (tmp_path / "a" / "effects.csv").read_bytes() == (tmp_path / "b" / "effects.csv").read_bytes()


def test_a_reader_that_stops_early_is_no_failure(audited, small_corpus):
    reader, writer = os.pipe()
    os.close(reader)
    words = ["audit", str(small_corpus / "images"), "--seeds", "1", "-q"]
    done = subprocess.run([*COMMAND, *words], stdout=writer, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_narrow_encoding_ends_no_run(small_corpus, tmp_path):
    shutil.copytree(small_corpus / "images", tmp_path / "ünïcode")
    env = {**os.environ, "PYTHONIOENCODING": "ascii"}
    words = [*COMMAND, "audit", str(tmp_path / "ünïcode"), "--seeds", "1", "--out", str(tmp_path / "ö")]
    done = subprocess.run(words, capture_output=True, env=env, check=False)
    assert done.returncode == 0, done.stderr
    assert rb"\xf6/report.html" in done.stdout


def test_the_demo_finds_what_was_drawn(tmp_path):
    out = tmp_path / "demo"
    for _ in range(2):  # the second time over the same folder
        done = subprocess.run([*COMMAND, "demo", "--out", str(out)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
        assert "against the true groups of" in done.stdout
        assert "a random split of these images inflates the score" in done.stdout
        assert str(out / "report.html") in done.stdout
        assert (out / "report.html").is_file()
    assert "F1 1.000" in done.stdout


def test_bars_on_a_terminal(tmp_path):
    images = draw(tmp_path / "c", SMALL, patients=6, fields=2)
    words = [*COMMAND, "audit", str(images), "--seeds", "1"]
    shown = io.BytesIO()
    main, side = pty.openpty()
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=side, env={**os.environ, "TERM": "xterm"})
    os.close(side)
    with contextlib.suppress(OSError):  # the terminal ends with the process
        while part := os.read(main, 65536):
            shown.write(part)
    os.close(main)
    out, _ = process.communicate()
    text = shown.getvalue().decode()
    assert process.returncode == 0
    assert "━" in text
    assert "reading images" in text
    assert b"\x1b" not in out


def test_lines_tell_rate_and_time_left(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(console.time, "monotonic", lambda: now[0])
    lines = console._Lines(console.Out(stderr=True))
    for done in range(0, 101, 10):
        now[0] = done / 5
        lines(done, 400, "reading [red]\x1b images")
    said = capsys.readouterr().err.splitlines()
    assert said[0] == r"reading [red]\x1b images 0/400"
    assert said[1] == r"reading [red]\x1b images 30/400 5.0/s 74 s left"
    assert 3 <= len(said) <= 5


def test_doctor_in_words_and_in_json(hsd):
    code, out, err = hsd("doctor")
    assert (code, err) == (0, "")
    assert "search backend" in out
    code, out, _ = hsd("doctor", "--json")
    assert code == 0
    checks = json.loads(out)
    assert {"topic", "level", "text", "advice"} == set(checks[0])
    assert {c["level"] for c in checks} <= {"ok", "info", "problem"}
