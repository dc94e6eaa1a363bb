"""`hsd train` and `hsd effects`: options are those of the Python verbs; words for people."""

from __future__ import annotations

import dataclasses
import inspect
import math

import pytest
import typer

from fiftyone_hsd import cli, effects, train
from fiftyone_hsd.cli.train import parse_options
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.settings import Settings
from fiftyone_hsd.train import MODELS


def options_of(command: str) -> dict[str, typer.core.TyperOption]:
    group = typer.main.get_command(cli.app)
    return {p.name: p for p in group.commands[command].params}


def test_options_and_defaults_are_those_of_the_verb():
    options = options_of("train")
    own = {k: p.default for k, p in inspect.signature(train).parameters.items()}
    for name in ("conditions", "dry_run", "ray", "gpus"):
        assert options[name].default == own[name], name
    settings = {f.name: f.default for f in dataclasses.fields(Settings)}
    for name in settings.keys() - {"models", "truth"}:
        assert options[name].default == settings[name], name
    assert tuple(options["models"].default.split(",")) == MODELS
    named = {"path", "out", "option", "quiet", "conditions", "dry_run", "ray", "gpus"}
    assert set(options) - settings.keys() == named
    assert all(o.help for o in options.values())
    assert set(options_of("effects")) - {"quiet"} == set(inspect.signature(effects).parameters) - {"progress"}


def test_options_of_a_recipe_are_read_as_what_they_are():
    assert parse_options(["steps=5", "lr=1e-3", "channels_last=False", "optimizer=sgd"]) == {
        "steps": 5,
        "lr": 0.001,
        "channels_last": False,
        "optimizer": "sgd",
    }
    for wrong in (["steps"], ["=3"], ["steps="], ["a=1", "a=2"]):
        with pytest.raises(InputError, match="NAME=VALUE"):
            parse_options(wrong)


def test_a_plan_without_networks_trains_nothing(small_corpus, tmp_path, capsys):
    words = ["train", small_corpus / "images", "--models", "linear_probe", "--seeds", "1", "--dry-run", "-q"]
    with pytest.raises(SystemExit) as ended:
        cli.main([str(w) for w in (*words, "--groups", small_corpus / "truth.csv", "--out", tmp_path / "o")])
    assert not ended.value.code
    assert "Nothing was trained" in capsys.readouterr().out
    assert not (tmp_path / "o" / "report.json").exists()


def test_only_what_was_typed_beats_the_audit_in_the_folder(small_corpus, tmp_path, capsys):
    def hsd(*words: object) -> str:
        with pytest.raises(SystemExit) as ended:
            cli.main([str(w) for w in (*words, "-q")])
        assert not ended.value.code
        return capsys.readouterr().out

    out, images = tmp_path / "o", small_corpus / "images"
    how = ("--groups", small_corpus / "truth.csv", "--models", "linear_probe")
    hsd("audit", images, *how, "--seeds", 1, "--out", out)
    hsd("train", images, "--models", "nearest_neighbour", "--conditions", "intact", "--out", out)
    runs = [(r.config.model, r.seed) for r in effects(out).runs if r.condition == "intact"]
    assert runs == [("linear_probe", 0), ("nearest_neighbour", 0)]
    hsd("train", images, "--models", "nearest_neighbour", "--conditions", "intact", "--seeds", 5, "--out", out)
    assert len([r for r in effects(out).runs if r.config.model == "nearest_neighbour"]) == 5


def test_a_failed_trial_is_said_and_not_a_time(capsys):
    from fiftyone_hsd.cli.console import Out
    from fiftyone_hsd.cli.train import _announce
    from fiftyone_hsd.launch import Forecast

    _announce(Out(), [Forecast("timm:x@/home/me/w.pt", 5, 5, 0, math.nan, math.nan, "there is no file")])
    said = capsys.readouterr().out
    assert "the trial failed: timm:x@w.pt: there is no file" in said
    assert "nan" not in said
