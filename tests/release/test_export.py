"""A release holds everything but names, and the images as other tools read them."""

from __future__ import annotations

import csv
import hashlib
import html
import json
import urllib.parse
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fiftyone_hsd import audit, export, repair, verify
from fiftyone_hsd.errors import FieldError, InputError, PathError, StaleError, StoreError
from fiftyone_hsd.report.stored import load_report


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", errors="surrogateescape", newline="") as file:
        return list(csv.DictReader(file))


def spellings(text: str) -> set[bytes]:
    """A name as any of our formats could write it."""
    raw = {text, html.escape(text), html.escape(html.escape(text)), text.replace('"', '""')}
    raw |= {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    quoted = urllib.parse.quote(text.encode("utf-8", "surrogateescape"))
    return {t.encode("utf-8", "surrogateescape") for t in {*raw, quoted, json.dumps(html.escape(text))[1:-1]}}


def private_words(private) -> set[str]:
    """Every id, path, file name, stem and patient, the folders and the tables."""
    words = {str(private.images), str(private.out), private.images.name, "Hospital-Sankt-Georg", "patients of 2019"}
    for name, person in {**private.patient, "train/BLAST/broken Secret-Name.png": "Secret-Name"}.items():
        words |= {name, Path(name).name, Path(name).stem, person}
    return words


def found_in(folder: Path, words: set[str]) -> list[tuple[str, str]]:
    wanted = {spelling: word for word in words for spelling in spellings(word)}
    hits = []
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        data = name.encode("utf-8", "surrogateescape") + (path.read_bytes() if path.is_file() else b"")
        hits += [(name, word) for spelling, word in wanted.items() if spelling in data]
    return hits


@pytest.fixture(scope="module")
def release(private, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return export(private.out, tmp_path_factory.mktemp("to") / "release")


def test_no_name_of_the_corpus_is_in_any_exported_byte(private, release: Path) -> None:
    assert found_in(release, private_words(private)) == []


def test_the_search_would_have_found_them(private, tmp_path: Path) -> None:
    plain = export(private.out, tmp_path / "plain", alias=False)
    hits = {word for _, word in found_in(plain, private_words(private))}
    assert {*private.patient, "broken Secret-Name.png", str(private.images)} <= hits


def test_aliases_lead_back_only_with_what_stays_at_home(private, release: Path) -> None:
    home = {r["alias"]: r["path"] for r in rows_of(private.out / ".hsd" / "aliases.csv")}
    content = rows_of(release / "content.csv")
    assert len(content) == len(private.patient) == len(home)
    for row in content:
        path = private.images / home[row["path"]]
        assert row["sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()
        assert (row["width"], row["height"]) == ("12", "12")
    assert [r["path"] for r in content] == sorted(r["path"] for r in content)
    assert oct((private.out / ".hsd" / "alias_key.json").stat().st_mode)[-3:] == "600"
    assert not (release / ".hsd").exists()


def test_numbers_are_those_of_the_audit(private, release: Path) -> None:
    home = {r["alias"]: r["path"] for r in rows_of(private.out / ".hsd" / "aliases.csv")}
    for name in ("splits/all.csv", "exposure.csv"):
        columns = ("path", "condition", "seed", *(("partition",) if "all" in name else ("exposed", "mates_in_train")))
        at_home = {tuple(r[c] for c in columns) for r in rows_of(private.out / name)}
        away = {tuple(home[r[c]] if c == "path" else r[c] for c in columns) for r in rows_of(release / name)}
        assert away == at_home
    near = {(r["path"], r["condition"], r["seed"]): r["nearest_train"] for r in rows_of(private.out / "exposure.csv")}
    for r in rows_of(release / "exposure.csv"):
        assert near[home[r["path"]], r["condition"], r["seed"]] == home[r["nearest_train"]]
    assert (release / "effects.csv").read_bytes() == (private.out / "effects.csv").read_bytes()
    together = [Counter(r["group"] for r in rows_of(f / "groups.csv")).values() for f in (release, private.out)]
    assert sorted(together[0]) == sorted(together[1])


def test_the_release_says_settings_versions_seeds_and_classes(private, release: Path) -> None:
    value = json.loads((release / "release.json").read_text())
    assert value["aliased"] is True
    assert value["seeds"] == [0, 1]
    assert value["classes"] == ["BLAST", "RARE_kind"]
    assert value["conditions"][:2] == ["existing", "intact"]
    assert value["settings"]["source"] == "corpus"
    assert value["settings"]["groups"] == "FILE"
    assert "numpy" in value["versions"]
    files = {p.relative_to(release).as_posix() for p in release.rglob("*") if p.is_file()} - {"release.json"}
    assert set(value["files"]) == files


def test_the_same_audit_gives_the_same_release_and_another_key_other_names(own, release: Path, tmp_path: Path) -> None:
    one = export(own.out, tmp_path / "one")
    first = {p.relative_to(one): p.read_bytes() for p in one.rglob("*") if p.is_file()}
    export(own.out, one)  # again into the same folder
    assert first == {p.relative_to(one): p.read_bytes() for p in one.rglob("*") if p.is_file()}
    (own.out / ".hsd" / "alias_key.json").unlink()
    other = export(own.out, tmp_path / "other")
    aliases = [{r["path"] for r in rows_of(f / "content.csv")} for f in (one, other)]
    assert not aliases[0] & aliases[1]


def test_lists_have_one_class_list(private, release: Path) -> None:
    classes = (release / "classes.txt").read_text("utf-8").split("\n")[:-1]
    split = {r["path"]: r for r in rows_of(release / "splits" / "intact.csv")}
    seen = 0
    for part in ("train", "test"):
        rows = rows_of(release / "lists" / "intact" / f"{part}.csv")
        assert {r["path"] for r in rows} == {p for p, r in split.items() if r["partition"] == part}
        assert all(classes[int(r["index"])] == split[r["path"]]["label"] for r in rows)
        seen += len(rows)
    assert seen == len(split)


@pytest.mark.train
def test_other_tools_number_the_classes_of_a_tree_alike_although_one_is_missing(own, tmp_path: Path) -> None:
    from timm.data import create_dataset
    from torchvision.datasets import ImageFolder

    for name in own.patient:  # BLAST is absent from test
        if name.startswith("test/BLAST/"):
            (own.images / name).unlink()
    out = tmp_path / "again"
    audit(own.images, seeds=1, models=(), out=out)
    tree = export(out, tmp_path / "release", tree="existing") / "tree"
    folder = ImageFolder(tree / "existing" / "test", allow_empty=True)
    assert folder.classes == ["BLAST", "RARE_kind"]
    assert {label for _, label in folder.samples} == {1}
    read = create_dataset("", root=str(tree / "existing" / "test"), class_map=str(tree / "classes.txt")).reader.samples
    assert {target for _, target in read} == {1}
    assert len(read) == len(folder) == sum(n.startswith("test/RARE") for n in own.patient)


def test_a_tree_holds_the_bytes_and_no_name(own, tmp_path: Path) -> None:
    release = export(own.out, tmp_path / "release", tree="intact")
    home = {r["alias"]: r["path"] for r in rows_of(own.out / ".hsd" / "aliases.csv")}
    split = {r["path"]: r for r in rows_of(release / "splits" / "intact.csv")}
    laid = [p for p in (release / "tree" / "intact").rglob("*") if p.is_file()]
    assert len(laid) == len(home)
    for path in laid:
        assert path.read_bytes() == (own.images / home[path.name]).read_bytes()
        assert path.parts[-3:-1] == (split[path.name]["partition"], split[path.name]["label"])
    assert found_in(release, private_words(own)) == []
    assert verify(release).holds


def test_links_of_a_tree_lead_to_the_images(own, tmp_path: Path) -> None:
    audit(own.images, seeds=1, models=(), out=tmp_path / "out")
    release = export(tmp_path / "out", tmp_path / "release", alias=False, tree="random", link="symlink")
    links = [p for p in (release / "tree" / "random").rglob("*") if p.is_symlink()]
    assert {p.resolve() for p in links} == {(own.images / n).resolve() for n in own.patient}
    assert verify(release, images=own.images).holds
    with pytest.raises(InputError, match="real paths"):
        export(tmp_path / "out", tmp_path / "other", tree="random", link="symlink")


def test_an_image_that_changed_since_is_not_passed_off_as_audited(own, tmp_path: Path) -> None:
    audit(own.images, seeds=1, models=(), out=tmp_path / "out")
    path = own.images / next(iter(own.patient))
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(StaleError, match="changed since"):
        export(tmp_path / "out", tmp_path / "release", tree="intact")


def test_a_repaired_split_travels_along_unless_its_groups_changed(own, tmp_path: Path) -> None:
    done = repair(own.out, out=own.out)
    release = export(own.out, tmp_path / "release")
    home = {r["alias"]: r["path"] for r in rows_of(own.out / ".hsd" / "aliases.csv")}
    away = {home[r["path"]]: r["partition"] for r in rows_of(release / "splits" / "repaired.csv")}
    ids = load_report(own.out).samples.ids
    assert away == dict(zip(ids, done.repair.plan.partition.tolist(), strict=True))
    assert verify(release).holds
    audit(own.images, seeds=1, models=(), out=own.out)  # other groups: copies only
    with pytest.raises(StaleError, match="hsd repair"):
        export(own.out, tmp_path / "release")


def test_pictures_only_when_asked(own, tmp_path: Path) -> None:
    plain, shown = (export(own.out, tmp_path / str(p), pictures=p) / "report.html" for p in (False, True))
    assert b"data:image/jpeg" not in plain.read_bytes()
    assert b"data:image/jpeg" in shown.read_bytes()
    assert found_in(tmp_path / "True", private_words(own)) == []


def test_folders_that_are_no_place_for_a_release_are_left_alone(private, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("x")
    with pytest.raises(InputError, match=r"thesis\.txt"):
        export(private.out, tmp_path / "mine")
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "x"
    with pytest.raises(PathError, match="hsd audit"):
        export(tmp_path / "mine", tmp_path / "to")
    with pytest.raises(FieldError, match="intact"):
        export(private.out, tmp_path / "to", tree="nonsense")
    with pytest.raises(InputError, match="symlink"):
        export(private.out, tmp_path / "to", link="hard")
    assert not (tmp_path / "to").exists()


def test_a_damaged_key_is_said(own, tmp_path: Path) -> None:
    (own.out / ".hsd" / "alias_key.json").write_text("{}")
    with pytest.raises(StoreError, match="alias key"):
        export(own.out, tmp_path / "to")


def test_names_with_a_rule_leave_no_trace_either(small_corpus: Path, tmp_path: Path) -> None:
    audit(small_corpus / "images", names=True, seeds=1, models=(), out=tmp_path / "out")
    release = export(tmp_path / "out", tmp_path / "release")
    files = [p for p in (small_corpus / "images").rglob("*") if p.is_file()]
    words = {p.name for p in files} | {p.stem for p in files}
    assert found_in(release, {w for w in words if not w.isdigit()} | {str(small_corpus)}) == []
    assert np.array(rows_of(release / "links.csv")[0]["rule"]).size
