"""Verification derives everything again: a change is found and said, also where the digests were made to fit."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fiftyone_hsd import cli, export, verify
from fiftyone_hsd.errors import PathError, StoreError
from fiftyone_hsd.model import sha256_json
from fiftyone_hsd.release.files import RELEASE, digest_of, rendered
from fiftyone_hsd.release.verify import Verification


@pytest.fixture(scope="module")
def pristine(private, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Path]:
    folder = tmp_path_factory.mktemp("to")
    return {alias: export(private.out, folder / str(alias), alias=alias) for alias in (True, False)}


@pytest.fixture
def release(pristine, tmp_path: Path) -> Path:
    return Path(shutil.copytree(pristine[False], tmp_path / "release"))


@pytest.fixture
def key(private) -> Path:
    return Path(private.out / ".hsd" / "alias_key.json")


def said(found: Verification) -> dict[str, tuple[str, ...]]:
    return {c.name: c.differs for c in found.checks if c.differs}


def text_of(found: Verification) -> str:
    return "\n".join(t for texts in said(found).values() for t in texts)


def forge(release: Path) -> None:
    """Make release.json fit the files again, as somebody would who wants to hide a change."""
    value = json.loads((release / RELEASE).read_text())
    value["files"] = {name: digest_of(release / name) for name in value["files"] if (release / name).exists()}
    value["digest"] = sha256_json({k: v for k, v in value.items() if k != "digest"})
    (release / RELEASE).write_bytes(rendered(value))


def edit(path: Path, old: str, new: str, count: int = 1) -> None:
    text = path.read_bytes().decode("utf-8", "surrogateescape")
    assert old in text
    path.write_bytes(text.replace(old, new, count).encode("utf-8", "surrogateescape"))


@pytest.mark.parametrize("alias", [True, False])
def test_an_untouched_release_holds(pristine, private, key: Path, alias: bool) -> None:
    found = verify(pristine[alias], images=private.images, key=key if alias else None)
    assert found.holds
    assert not said(found)
    assert all(c.compared for c in found.checks)
    assert not any(c.left_out for c in found.checks)


def test_one_changed_byte_in_any_file_is_found(release: Path) -> None:
    for path in sorted(p for p in release.rglob("*") if p.is_file()):
        name, whole = path.relative_to(release).as_posix(), path.read_bytes()
        data = bytearray(whole)
        data[len(data) // 2] ^= 1
        path.write_bytes(bytes(data))
        found = verify(release)
        assert not found.holds, name
        assert name in text_of(found)
        path.write_bytes(whole)
    assert verify(release).holds


def test_a_moved_sample_is_found_and_named(release: Path) -> None:
    line = next(
        x for x in (release / "splits/intact.csv").read_text("utf-8", "surrogateescape").split("\n") if ",test" in x
    )
    edit(release / "splits/intact.csv", line, line.replace(",test", ",train"))
    forge(release)  # the digest of the file is made to fit
    differs = said(verify(release))
    path = line.split(",")[0]
    assert differs["files of single splits agree with splits/all.csv"] == (
        f"{path} is in train in splits/intact.csv, in test in splits/all.csv",
    )


def test_a_sample_moved_everywhere_still_breaks_what_must_hold(release: Path) -> None:
    lines = (release / "splits/intact.csv").read_text("utf-8", "surrogateescape").split("\n")
    path, _, group, _ = next(x for x in lines if x.endswith(",test") and '"' not in x).split(",")
    edit(release / "splits/intact.csv", f"{group},test", f"{group},train")
    text = (release / "splits/intact.csv").read_text("utf-8", "surrogateescape")
    path = next(x for x in text.split("\n") if x.endswith(f"{group},train")).split(",")[0]
    edit(release / "splits/all.csv", f"{path},intact,0,test", f"{path},intact,0,train")
    edit(release / "lists/intact/test.csv", f"{path},", "", 1)
    forge(release)
    differs = said(verify(release))
    assert group in differs["no group lies in two partitions of an intact or repaired split"][0]
    assert any("train holds" in t for t in differs["class counts are equal in every condition of a ladder"])
    assert any(path in t for t in differs["exposure follows from groups and partitions"])
    assert "digests follow from the tables" in differs


def test_exposure_that_does_not_follow_is_found(release: Path) -> None:
    edit(release / "exposure.csv", ",random,0,true,", ",random,0,false,")
    forge(release)
    (text,) = said(verify(release))["exposure follows from groups and partitions"]
    assert "random, seed 0" in text
    assert "derived: true" in text


def test_a_pair_that_exposes_nothing_is_found(release: Path) -> None:
    rows = [r for r in (release / "exposing.csv").read_text("utf-8", "surrogateescape").split("\n") if '"' not in r]
    one, other = rows[1].split(","), rows[-2].split(",")
    edit(release / "exposing.csv", rows[1], ",".join([*one[:3], other[3], *one[4:]]))
    forge(release)
    (text,) = said(verify(release))["pairs of exposing.csv follow from groups and partitions"]
    assert f"{other[3]} does not expose {one[0]}" in text


def test_groups_that_do_not_follow_from_their_members_are_found(release: Path) -> None:
    rows = (release / "groups.csv").read_text("utf-8", "surrogateescape").split("\n")
    group = next(x for x in rows[1:] if '"' not in x).split(",")[1]
    edit(release / "groups.csv", f",{group},", ",g000000000000,")
    forge(release)
    assert "g000000000000" in text_of(verify(release))


def test_a_class_index_that_is_off_is_found(release: Path) -> None:
    edit(release / "lists/random/train.csv", ",1\n", ",0\n")
    forge(release)
    (text,) = said(verify(release))["lists of paths hold the partitions and the indices of the class list"]
    assert "has index 0" in text


def test_nested_sets_that_are_not_are_found(release: Path) -> None:
    # a test sample trades places with a train sample of its class under q75 only: counts stay, nesting breaks
    from collections import defaultdict

    rows = [
        x.rsplit(",", 3)
        for x in (release / "splits/all.csv").read_text("utf-8", "surrogateescape").split("\n")[1:-1]
        if x.count(",") == 3
    ]
    at = defaultdict(dict)
    for path, condition, seed, part in rows:
        at[condition, seed][path] = part
    exposed = [
        x.split(",")[0]
        for x in (release / "exposure.csv").read_text("utf-8", "surrogateescape").split("\n")
        if ",q25,0,true" in x and '"' not in x and at["q75", "0"].get(x.split(",")[0]) == "test"
    ]
    path = exposed[0]
    edit(release / "splits/all.csv", f"{path},q75,0,test", f"{path},q75,0,val")
    forge(release)
    differs = said(verify(release))
    assert any(path in t for t in differs["exposed test samples are nested along each ladder"])


def test_a_renamed_a_missing_and_a_strange_file_are_found(release: Path) -> None:
    (release / "groups.csv").rename(release / "group.csv")
    (release / "runs.csv").unlink()
    (release / "note.txt").write_text("hello")
    text = text_of(verify(release))
    assert "groups.csv was renamed to group.csv" in text
    assert "runs.csv is missing" in text
    assert "note.txt is not in the list" in text


@pytest.mark.parametrize("alias", [True, False])
def test_a_renamed_a_changed_and_a_missing_image_are_found(pristine, own, key: Path, alias: bool) -> None:
    first, second, third = list(own.patient)[:3]
    (own.images / first).rename(own.images / "train" / "elsewhere.png")
    data = bytearray((own.images / second).read_bytes())
    data[-20] ^= 1
    (own.images / second).write_bytes(bytes(data))
    (own.images / third).unlink()
    found = verify(pristine[alias], images=own.images, key=key if alias else None)
    (texts,) = said(found).values()
    text = "\n".join(texts)
    assert "was renamed to train/elsewhere.png" in text
    assert f"{second} was changed" in text
    assert "is missing" in text
    assert len(texts) == 3
    blind = verify(pristine[True], images=own.images)
    assert len(said(blind)["every image is there with its bytes"]) >= 2  # the renamed one has its bytes
    assert [c.left_out for c in blind.checks if "renamed" in c.left_out]


def test_without_images_only_the_images_are_left_out(pristine) -> None:
    found = verify(pristine[True])
    assert [c.left_out for c in found.checks if c.left_out] == ["no images were given (--images ROOT)"]


def test_damage_is_a_finding_not_a_crash(release: Path) -> None:
    (release / "samples.csv").write_bytes(b'path,label\n"')
    assert "samples.csv" in text_of(verify(release))
    (release / "release.json").write_bytes(b"{")
    assert "cannot be read" in text_of(verify(release))


def test_what_is_no_release_is_said(tmp_path: Path, pristine) -> None:
    with pytest.raises(PathError, match="hsd export"):
        verify(tmp_path)
    with pytest.raises(PathError, match="no folder"):
        verify(pristine[True], images=tmp_path / "none")
    (tmp_path / "key").write_text("x")
    with pytest.raises(StoreError, match="alias key"):
        verify(pristine[True], images=tmp_path, key=tmp_path / "key")


def test_the_command_ends_with_1_where_something_differs(release: Path, private, capfd, tmp_path: Path) -> None:
    def run(*words: object) -> tuple[int, str]:
        with pytest.raises(SystemExit) as ended:
            cli.main([*map(str, words), "-q"])
        return int(ended.value.code or 0), capfd.readouterr().out

    assert run("export", private.out, "--to", tmp_path / "to")[0] == 0
    code, text = run("verify", tmp_path / "to", "--images", private.images)
    assert code == 0
    assert "the release holds" in text
    edit(release / "splits/q25.csv", ",test", ",train")
    code, text = run("verify", release)
    assert code == 1
    assert "splits/q25.csv was changed" in text
    code, text = run("verify", release, "--json")
    assert code == 1
    assert any(c["differs"] for c in json.loads(text))
