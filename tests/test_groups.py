"""Groups alone: names without images, images, new files against an audit, why two files belong together."""

from __future__ import annotations

import csv

import numpy as np
import pytest
from PIL import Image

import fiftyone_hsd as hsd
from fiftyone_hsd import cli
from fiftyone_hsd.errors import FieldError
from fiftyone_hsd.groups import table_of


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """120 scans of 40 patients by name alone, and a group column that is wrong."""
    path = tmp_path_factory.mktemp("names") / "list.csv"
    rows = [(f"P{p:03d}_scan{s}.png", f"wrong{(p + s) % 7}", "ab"[p % 2]) for p in range(40) for s in range(3)]
    path.write_text("name,group,label\n" + "".join(",".join(r) + "\n" for r in rows))
    return path


def noise(seed, size=(120, 160)):
    rng = np.random.default_rng(seed)
    small = rng.integers(0, 255, (size[0] // 8, size[1] // 8, 3), dtype=np.uint8)
    return np.asarray(Image.fromarray(small).resize(size[::-1], Image.BICUBIC))


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    """Eight images; one has a byte-identical copy and a mirrored one."""
    root = tmp_path_factory.mktemp("images")
    for k in range(8):
        Image.fromarray(noise(k)).save(root / f"{chr(97 + k)}q{k * 7}.png")
    Image.fromarray(noise(0)).save(root / "zz copy.png")
    Image.fromarray(np.ascontiguousarray(noise(0)[:, ::-1])).save(root / "mirror.png")
    return root


def rows_of(path):
    return list(csv.DictReader(path.read_text().splitlines()))


def run(capfd, *words):
    with pytest.raises(SystemExit) as ended:
        cli.main([str(w) for w in words])
    return int(ended.value.code or 0), *capfd.readouterr()


def test_names_need_no_images_and_the_group_column_is_ignored(names, tmp_path, capfd):
    code, said, _ = run(capfd, "groups", names, "--out", tmp_path / "groups.csv", "-q")
    assert code == 0
    rows = rows_of(tmp_path / "groups.csv")
    assert [r["path"] for r in rows[:2]] == ["P000_scan0.png", "P000_scan1.png"]
    assert len({r["group"] for r in rows}) == 40
    assert all(r["group"] == rows[3 * (i // 3)]["group"] for i, r in enumerate(rows))
    assert {r["evidence"] for r in rows} == {"name"}
    assert "40 groups" in said


def test_a_group_column_is_used_when_it_is_named(names):
    found = hsd.groups(names, group_field="group")
    assert len(set(found.ids)) == 7


def test_on_abstention_every_group_is_empty_and_the_reason_is_said(tmp_path, capfd):
    rng = np.random.default_rng(0)
    path = tmp_path / "hashes.csv"
    path.write_text("path\n" + "".join(f"{rng.bytes(16).hex()}.png\n" for _ in range(80)))
    code, said, _ = run(capfd, "groups", path, "--out", tmp_path / "g.csv", "-q")
    rows = rows_of(tmp_path / "g.csv")
    assert code == 0
    assert {(r["group"], r["evidence"], r["confidence"]) for r in rows} == {("", "", "")}
    assert "no groups were read from the file names" in said
    assert hsd.groups(path).abstained


def test_images_give_groups_with_a_chain_of_evidence(corpus, tmp_path, capfd):
    found = hsd.groups(corpus)
    row = dict(zip(found.paths, found.ids, strict=True))
    assert row["aq0.png"] == row["zz copy.png"] == row["mirror.png"] != ""
    assert sum(i == row["aq0.png"] for i in found.ids) == 3
    links = found.why("zz copy.png", "mirror.png")
    assert [s for s in links.source.tolist() if s not in ("bytes", "pixels")] == ["similarity"]
    table = table_of(found)
    at = table["path"].index("mirror.png")
    assert table["evidence"][at] == "bytes+pixels+similarity"
    assert 0.9 < table["confidence"][at] < 1
    with pytest.raises(FieldError, match="none of the 10 files"):
        found.why("aq0.png", "nothing.png")
    code, said, _ = run(capfd, "groups", corpus, "--why", "aq0.png", "mirror.png", "--links", tmp_path / "l.csv", "-q")
    assert code == 0
    assert "matching points" in said
    assert any(r["source"] == "similarity" for r in rows_of(tmp_path / "l.csv"))


def test_new_files_join_the_groups_of_an_audit(corpus, tmp_path, capfd):
    report = hsd.audit(corpus, out=tmp_path / "audit", seeds=1)
    new = tmp_path / "new"
    new.mkdir()
    Image.fromarray(noise(3)).convert("L").save(new / "seen.png")
    Image.fromarray(noise(99)).save(new / "unseen.png")
    found = hsd.groups(new, known=tmp_path / "audit")
    known = dict(zip(report.samples.ids, report.grouping.group_ids(report.samples.ids), strict=True))
    assert [(j.path, j.known, j.source) for j in found.joined] == [("seen.png", "dq21.png", "similarity")]
    assert found.ids[found.paths.index("seen.png")] == known["dq21.png"]
    assert found.ids[found.paths.index("unseen.png")] not in known.values()
    code, said, _ = run(capfd, "groups", new, "--known", tmp_path / "audit", "-q")
    assert code == 0
    assert "seen.png joins" in said


def test_what_was_measured_is_kept_beside_the_file(corpus, tmp_path, capfd):
    assert run(capfd, "groups", corpus, "--out", tmp_path / "g.csv", "-q")[0] == 0
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / ".hsd").rglob("*.npz")}
    assert any(p.name == "pairs.npz" for p in before)
    words = ("--near-threshold", "0.9999", "--out", tmp_path / "g.csv", "-q")
    assert run(capfd, "groups", corpus, *words)[0] == 0
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / ".hsd").rglob("*.npz")} == before
    row = {r["path"]: r["group"] for r in rows_of(tmp_path / "g.csv")}
    assert row["mirror.png"] != row["aq0.png"] == row["zz copy.png"]


def test_verdicts_split_and_join(corpus, tmp_path):
    path = tmp_path / "verdicts.csv"
    path.write_text(
        "path_a,path_b,verdict,author,time\naq0.png,mirror.png,different,ann,2026\nbq7.png,cq14.png,same,ann,2026\n"
    )
    found = hsd.groups(corpus, verdicts=path)
    row = dict(zip(found.paths, found.ids, strict=True))
    assert row["aq0.png"] == row["zz copy.png"] != row["mirror.png"]
    assert row["bq7.png"] == row["cq14.png"] != ""


@pytest.mark.mongod
def test_a_dataset_is_grouped_by_its_name(mongod, corpus):
    import fiftyone as fo

    fo.Dataset.from_dir(str(corpus), dataset_type=fo.types.ImageDirectory, name="grouped")
    found = hsd.groups("fiftyone:grouped")
    row = dict(zip(found.paths, found.ids, strict=True))
    assert row["aq0.png"] == row["mirror.png"] != ""
    assert found.ids == hsd.groups(corpus).ids
