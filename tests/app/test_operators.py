"""The operators that start from a stored audit, by SDK: what they write, what they refuse, and that they say so."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from fiftyone_hsd import audit, dataset, groups
from fiftyone_hsd.errors import InputError
from fiftyone_hsd.folder.tables import read_table
from fiftyone_hsd.sensitivity import sensitivity

pytestmark = pytest.mark.mongod

PLUGIN = "@fiftyone-hsd/hsd"
FIELD_OF_VIEW = r"(?P<group>P\d+_S\d+_F\d+)"
WRONG = (
    ("report", {"out": "~nouser/x"}, "cannot be used"),
    ("report", {"out": "/etc/passwd/x"}, "below the file /etc/passwd"),
    ("export", {"to": "/tmp/" + "x" * 300}, r"x\.\.\..* cannot be used"),
    ("ladder", {"out": "/tmp/a\0b"}, "NUL"),
    ("ladder", {"seeds": "abc"}, "seeds = 'abc'"),
    ("ladder", {"sentinel": float("nan")}, "sentinel = nan"),
    ("groups", {"out": "/nowhere/at/all/g.csv"}, "folder of the file"),
    ("groups", {"out": "/tmp/" + "x" * 300 + ".csv"}, "cannot be used"),
    ("review", {"what": "export", "file": "/nowhere/at/all/v.csv"}, "folder of the file"),
    ("review", {"what": "import", "file": "~nouser/v.csv"}, "cannot be used"),
    ("verify", {"release": "/tmp/a\0b"}, "NUL"),
    ("audit", {"seeds": float("inf")}, "seeds = inf"),
    ("audit", {"split_field": 5}, "split_field = 5"),
    ("audit", {"pattern": ["x"]}, r"pattern = \['x'\]"),
    ("audit", {"models": [1]}, r"models = \[1\]"),
    ("labels", {"checks": 1}, "checks = 1"),
    ("controls", {"control": 1}, "control = 1"),
    ("train", {"seeds": float("nan")}, "seeds = nan"),
    ("train", {"steps": float("inf")}, "steps = inf"),
    ("train", {"models": [1]}, r"models = \[1\]"),
)


@pytest.fixture
def run(fo, downloaded):
    def call(name, found, **params):
        return fo.operators.execute_operator(f"{PLUGIN}/{name}", {"dataset": found}, params=params).result

    return call


@pytest.fixture
def audited(make_dataset):
    found = make_dataset("operators", every=2)
    report = audit(found, seeds=1, pattern=FIELD_OF_VIEW, models=("nearest_neighbour",))
    dataset.write_audit(found, report)
    return found, report


def context(fo, name, found, **params):
    """An operator, and what it is given when it is asked by REST."""
    operator = fo.operators.get_operator(f"{PLUGIN}/{name}")
    executor = fo.operators.executor.Executor()
    request = {"dataset_name": found.name, "params": params}
    return operator, fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=operator.uri)


def form(fo, name, found):
    """The entries of an operator's form for a dataset."""
    operator, ctx = context(fo, name, found)
    return operator.resolve_input(ctx).to_json()["type"]["properties"]


def test_a_repair_leaves_no_group_torn_and_is_undone_alone(run, audited):
    found, report = audited
    before = {k: v for k, v in found.first().to_dict().items() if k != "last_modified_at"}
    plan = run("repair", found, dry_run=True)
    assert plan["views"] == []
    assert dataset.recorded(found) == ["audit"]
    result = run("repair", found)
    assert (result["moved"], result["set_aside"]) == (plan["moved"], plan["set_aside"])
    assert result["moved"] > 0
    found.reload()
    places = {}
    for group, place in zip(*found.values(["hsd_group", "hsd_repaired"]), strict=True):
        places.setdefault(group, set()).add(place)
    assert all(len(p - {"unused"}) <= 1 for p in places.values())
    shown = dataset.stored_overview(found)["repair"]
    assert (shown["moved"], sum(n for _, n in shown["reasons"])) == (
        result["moved"],
        result["moved"] + result["set_aside"],
    )
    assert run("undo", found, what="repair")["fields"] == result["fields"]
    found.reload()
    after = {k: v for k, v in found.first().to_dict().items() if k != "last_modified_at"}
    assert after == before
    assert dataset.stored_report(found).verdict == report.verdict


def test_report_export_and_verify_go_through(run, audited, tmp_path):
    found, report = audited
    page = run("report", found, out=str(tmp_path / "report"))["report"]
    assert json.loads((Path(page).parent / "report.json").read_text())["verdict"] == report.verdict
    result = run("export", found, to=str(tmp_path / "release"))
    text = "".join(p.read_text("utf-8") for p in (tmp_path / "release").rglob("*.csv"))
    assert not any(i in text for i in report.samples.ids)
    assert Path(result["key"]).is_dir()
    assert run("verify", found, release=result["release"])["holds"]
    (tmp_path / "release" / "samples.csv").write_text("path\n")
    spoiled = run("verify", found, release=result["release"])
    assert not spoiled["holds"]
    assert any(c["result"] == "differs" for c in spoiled["checks"])


@pytest.mark.parametrize(
    ("name", "params", "words"),
    [
        ("report", {"out": "relative"}, "absolute path"),
        ("report", {"out": "/etc"}, "holds other files"),
        ("report", {"out": ""}, "Required|no report folder"),
        ("ladder", {"out": "/etc"}, "holds other files"),
        ("export", {"to": "/etc"}, "holds other files"),
        ("export", {"to": "/nowhere/at/all", "tree": "no such"}, "Invalid enum|no such"),
        ("verify", {"release": "/nowhere/at/all"}, "absolute path of a folder"),
        ("verify", {"release": "/etc", "key": "/etc/passwd"}, "alias_key.json"),
        ("repair", {"condition": "no such"}, "Invalid enum|no such"),
        ("undo", {"what": "images"}, "Invalid enum|images"),
    ],
)
def test_arguments_are_checked(fo, run, audited, name, params, words):
    with pytest.raises(fo.operators.executor.ExecutionError, match=words):
        run(name, audited[0], **params)


def test_paths_that_cannot_be_and_values_of_other_types_are_refused_in_words(fo, downloaded, audited):
    """Past FiftyOne's own check of types, which REST calls need not pass. One audit for all: nothing is changed."""
    for name, params, words in WRONG:
        operator, ctx = context(fo, name, audited[0], **params)
        operator.resolve_input(ctx)  # the form stands, whatever came
        with pytest.raises(InputError, match=words):
            operator.work(ctx, lambda *_: None)


def test_without_an_audit_every_form_says_what_to_run(fo, downloaded, make_dataset, run):
    found = make_dataset("unaudited", every=40)
    for name in ("report", "export", "repair", "effects"):
        assert "run HSD: audit first" in json.dumps(form(fo, name, found))
        with pytest.raises(fo.operators.executor.ExecutionError, match="run HSD: audit first"):
            run(name, found, out="/tmp/never", to="/tmp/never")
    assert "nothing to undo" in json.dumps(form(fo, "undo", found))
    with pytest.raises(fo.operators.executor.ExecutionError, match="nothing to undo"):
        run("undo", found)


def test_two_datasets_keep_their_own_audits(run, audited, make_dataset):
    found, report = audited
    other = make_dataset("other", every=3)
    run("audit", other, seeds=1, models=["nearest_neighbour"])
    other.reload()
    assert dataset.stored_overview(found)["verdict"] == report.verdict != dataset.stored_overview(other)["verdict"]
    run("undo", other)
    other.reload()
    found.reload()
    assert other.list_runs() == []
    assert dataset.stored_report(found).verdict == report.verdict


def test_an_empty_view_and_a_dataset_without_labels(fo, run, make_dataset):
    found = make_dataset("bare", every=6)
    found.delete_sample_field("ground_truth")
    with pytest.raises(fo.operators.executor.ExecutionError, match="shows no image"):
        fo.operators.execute_operator(f"{PLUGIN}/audit", {"view": found.match_tags("nothing")}, params={"seeds": 1})
    run("audit", found, pattern=FIELD_OF_VIEW)
    shown = dataset.stored_overview(found)
    assert shown["label"] == ""
    assert shown["ladder"]["models"] == []
    assert shown["leaks"][0]["n"] > 0
    assert any("no labels" in text for text in shown["not_evaluated"])


def test_review_shows_pairs_and_moves_verdicts_through_a_file(fo, run, audited, tmp_path):
    found, _ = audited
    pairs = dataset.stored_queue(found)
    shown = run("review", found)["pairs"]
    assert len(shown) == len(set(shown)) > 1
    asked = {(p.a, p.b) for p in pairs}
    assert all(tuple(sorted(shown[i : i + 2])) in asked for i in range(0, len(shown), 2))
    dataset.add_verdict(found, pairs[0].a, pairs[0].b, "same", "ann")
    assert shown[:2] != run("review", found)["pairs"][:2]
    file = tmp_path / "verdicts.csv"
    run("review", found, what="export", file=str(file))
    assert file.read_text().splitlines()[1].startswith(f"{pairs[0].a},{pairs[0].b},same,ann,")
    assert run("review", found, what="forget")["verdicts"] == 0
    assert run("review", found, what="import", file=str(file))["verdicts"] == 1
    assert dataset.verdicts(found)[0].author == "ann"
    file.write_text("path_a,path_b,verdict,author,time\na.png,b.png,same,bob,\n")
    said = run("review", found, what="import", file=str(file))["said"]
    assert any(line.startswith("1 of 1 verdicts name no sample of this dataset; ids are needed") for line in said)
    for name, words in (("verdicts.csv", "absolute path"), ("/etc/passwd", "absolute path of a .csv file")):
        with pytest.raises(fo.operators.executor.ExecutionError, match=words):
            run("review", found, what="export", file=name)


def test_the_ladder_follows_the_verdicts(run, audited, tmp_path):
    found, report = audited
    result = run("ladder", found, seeds=1, conditions=3, out=str(tmp_path / "ladder"))
    rows = {r["condition"]: r for r in result["conditions"]}
    table = read_table(Path(result["splits"]) / "all.csv")
    assert Path(result["report"]).is_file()
    assert sorted(set(table["condition"])) == sorted(rows)
    assert (
        sum(p == "test" for p, c in zip(table["partition"], table["condition"], strict=True) if c == "intact")
        == (rows["intact"]["n"])
    )
    assert list(rows)[:2] == ["existing", "intact"]
    assert rows["intact"]["exposed"] == "0.0%"
    k, n = (int(x.replace(",", "")) for x in rows["existing"]["crossing"].split(" of "))
    codes, partition = report.grouping.codes, report.plans[0].partition
    places = {}
    for code, place in zip(codes.tolist(), partition.tolist(), strict=True):
        places.setdefault(code, []).append(place)
    assert (k, n) == (sum(len(set(p)) > 1 for p in places.values()), sum(len(p) > 1 for p in places.values()))
    torn = next(c for c, p in places.items() if sorted(p) == ["test", "train"])
    a, b = (report.samples.ids[i] for i in range(len(codes)) if codes[i] == torn)
    dataset.add_verdict(found, a, b, "different", "ann")
    after = {r["condition"]: r for r in run("ladder", found, seeds=1, conditions=3)["conditions"]}
    assert after["existing"]["crossing"] == f"{k - 1:,} of {n - 1:,}"


def test_groups_alone_equal_the_verb_and_mark_nothing(fo, run, make_dataset, tmp_path):
    found, file = make_dataset("groups-alone", every=4), tmp_path / "groups.csv"
    result = run("groups", found, pattern=FIELD_OF_VIEW, near_copies="on", out=str(file))
    verb = groups(found, pattern=FIELD_OF_VIEW, near_copies="on")
    sizes = verb.grouping.sizes
    assert (result["groups"], result["largest"]) == (verb.grouping.n_groups, sizes.max())
    assert sum(r["images"] for r in result["sizes"]) == len(found)
    assert sum(r["links"] for r in result["rules"]) == verb.grouping.links.accepted.sum()
    table = read_table(file)
    assert dict(zip(table["path"], table["group"], strict=True)) == dict(zip(verb.paths, verb.ids, strict=True))
    # The grid shows whole groups, one after another, and no image without a mate.
    assert len(result["ids"]) == len(set(result["ids"])) == sizes[sizes > 1].sum()
    files = dict(zip(*found.values(["id", "filepath"]), strict=True))
    codes = dict(zip(verb.paths, verb.grouping.codes.tolist(), strict=True))
    order = [next(codes[p] for p in codes if files[i].endswith(p)) for i in result["ids"]]
    assert sum(a != b for a, b in pairwise(order)) + 1 == len(set(order))
    found.reload()
    assert found.list_runs() == []
    assert json.loads(json.dumps(result)) == result
    (tmp_path / "other.csv").write_text("mine\n")
    with pytest.raises(fo.operators.executor.ExecutionError, match="holds something else"):
        run("groups", found, out=str(tmp_path / "other.csv"))


def test_where_no_source_says_anything_groups_say_so(fo, run, independent_corpus):
    paths = sorted(p for p in (independent_corpus / "images").rglob("*") if p.is_file())[::5]
    found = fo.Dataset()
    found.add_samples([fo.Sample(filepath=str(p), ground_truth=fo.Classification(label=p.parent.name)) for p in paths])
    result = run("groups", found)
    assert result["said"] == "no source says anything about these images: no group is known"
    assert (result["ids"], result["sizes"], result["groups"]) == ([], [], 0)
    verdict = run("audit", found, seeds=1)["verdict"]
    assert verdict.startswith("No dependence detectable")
    found.delete()


def test_new_images_join_the_groups_of_the_audit(fo, run, audited, small_corpus):
    found, report = audited
    fresh = sorted(p for p in (small_corpus / "images").rglob("*") if p.is_file())[1::2][:6]
    ids = found.add_samples([fo.Sample(filepath=str(p)) for p in fresh])
    operator = fo.operators.get_operator(f"{PLUGIN}/groups")
    result = operator(found.select(ids), known=True, names=False, near_copies="on").result
    verb = groups(found.select(ids), known=report, names=False, near_copies="on")
    assert result["said"].startswith(f"{len(verb.joined)} of 6")
    assert [r["partition"] for r in result["joined"]] == [j.partition or "none" for j in verb.joined]
    dataset.undo(found, force=True)
    with pytest.raises(fo.operators.executor.ExecutionError, match="run HSD: audit first"):
        run("groups", found, known=True)


def test_effects_follow_the_verdicts_and_write_nothing(fo, run, audited):
    found, report = audited
    score = {e.condition: e for e in report.effects if e.what == "score" and e.metric == "balanced_accuracy"}
    before = run("effects", found)
    assert before["verdict"] == report.verdict
    assert "No verdict is kept" in before["since"]
    rows = {r["condition"]: r for r in before["conditions"]}
    assert rows["existing"]["score"].startswith(f"{score['existing'].estimate:.3f} (")
    assert rows["random"]["change"] == rows["random"]["before"] != ""
    codes, partition = report.grouping.codes.tolist(), report.plans[0].partition.tolist()
    places = {}
    for k, (code, place) in enumerate(zip(codes, partition, strict=True)):
        places.setdefault(code, []).append((place, k))
    torn = next(p for p in places.values() if sorted(x for x, _ in p) == ["test", "train"])
    a, b = (report.samples.ids[k] for _, k in torn)
    dataset.add_verdict(found, a, b, "different", "ann")
    dataset.add_verdict(found, a, b, "skipped", "bob")
    marks = [s.to_dict() for s in found.limit(20)]
    after = run("effects", found)
    assert "1 verdict against the audit's groups changed the marks of 2 images" in after["since"]
    exposed = int((report.exposures[0].exposed & (report.plans[0].partition == "test")).sum())
    n = partition.count("test")
    shown = {r["condition"]: r["exposed"] for r in after["conditions"]}["existing"]
    assert (rows["existing"]["exposed"], shown) == (f"{exposed / n:.1%}", f"{(exposed - 1) / n:.1%}")
    found.reload()
    assert [s.to_dict() for s in found.limit(20)] == marks
    assert dataset.stored_report(found).verdict == report.verdict


def test_results_say_what_changed_since_the_audit(run, audited):
    found, _ = audited
    assert not any("Stale" in note for name in ("ladder", "effects") for note in run(name, found)["notes"])
    found.delete_samples(found.limit(2).values("id"))
    for name, params in (("ladder", {"seeds": 1, "conditions": 2}), ("effects", {}), ("repair", {"dry_run": True})):
        assert run(name, found, **params)["notes"][0].startswith("Stale: since the audit of this dataset 2 removed")


def test_a_folder_that_cannot_be_written_is_refused_at_the_door(fo, run, audited, tmp_path, monkeypatch):
    real = os.access  # the superuser may write anywhere
    monkeypatch.setattr(os, "access", lambda path, mode, **more: path != tmp_path and real(path, mode, **more))
    for name, params in (
        ("report", {"out": str(tmp_path / "a" / "b")}),
        ("groups", {"out": str(tmp_path / "groups.csv")}),
        ("review", {"what": "export", "file": str(tmp_path / "verdicts.csv")}),
    ):
        with pytest.raises(fo.operators.executor.ExecutionError, match="no right to write"):
            run(name, audited[0], **params)


def test_effects_say_how_much_they_depend_on_the_groups(run, audited):
    found, report = audited
    result = run("effects", found, sensitivity=True)
    assert {k: v for k, v in result.items() if k not in ("depends", "variants")} == run("effects", found)
    verb = sensitivity(report)
    assert [r["groups"] for r in result["variants"]] == [e.what.removeprefix("sensitivity: ") for e in verb]
    for row, e in zip(result["variants"], verb, strict=True):
        assert row["change"] == f"{e.estimate:+.3f} ({e.low:+.3f} to {e.high:+.3f})"
    assert result["depends"].startswith("How much the inflation depends on the groups: Over ")
    found.reload()
    assert dataset.recorded(found) == ["audit"]


def test_groups_and_effects_by_form(fo, downloaded, run, audited):
    """What the App is told: a bar, the result as tables, and for groups the images in the grid."""
    found, report = audited

    def told(name, **params):
        uri = f"{PLUGIN}/{name}"
        request = {"dataset_name": found.name, "params": params, "operator_uri": uri}
        executor = fo.operators.executor.Executor()
        ctx = fo.operators.executor.ExecutionContext(request, executor=executor, operator_uri=uri)
        asked = {}
        for message in fo.operators.get_operator(uri).execute(ctx):
            asked[message.body.operator_uri.rpartition("/")[2]] = message.body.params
        return asked

    asked = told("groups", pattern=FIELD_OF_VIEW, near_copies="off")
    assert asked["show_output"]["results"] == run("groups", found, pattern=FIELD_OF_VIEW, near_copies="off")
    tables = asked["show_output"]["outputs"]["type"]["properties"]
    assert {"said", "sizes", "rules", "marked"} <= set(tables)
    view = fo.DatasetView._build(found, asked["set_view"]["view"])
    assert len(view) == int((report.grouping.sizes[report.grouping.sizes > 1]).sum())
    assert "set_progress" in asked
    assert "set_view" not in told("groups", pattern=FIELD_OF_VIEW, near_copies="off", show=False)
    asked = told("effects")
    assert asked["show_output"]["results"] == run("effects", found)
    assert {"said", "since", "conditions"} <= set(asked["show_output"]["outputs"]["type"]["properties"])
    assert "HSD: effects" in asked["notify"]["message"]
