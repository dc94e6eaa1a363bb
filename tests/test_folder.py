"""What a folder or a CSV file says, and nothing it does not say."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.errors import EmptyError, FieldError, InputError, PathError
from fiftyone_hsd.folder import from_csv, from_folder, from_source, layout, read_groups


def image(path, value=0):
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(np.full((4, 5, 3), value, np.uint8)).save(path, "PNG")


def topics(samples):
    return {n.topic: n.count for n in samples.notes}


@pytest.mark.parametrize(
    ("paths", "split", "label"),
    [
        (["a/x", "b/y"], ["", ""], ["a", "b"]),
        (["train/a/x", "Validation/b/y"], ["train", "val"], ["a", "b"]),
        (["train/a/x", "test/y"], ["train", "test"], ["", ""]),
        (["a/x", "y"], ["", ""], ["", ""]),
        (["test/x", "control/y"], ["", ""], ["test", "control"]),
        (["set/TRAIN/a/p1/x", "set/TEST/b/p2/y"], ["train", "test"], ["a", "b"]),
        (["train/a/x", "train/b/y"], ["train", "train"], ["a", "b"]),
    ],
)
def test_layout(paths, split, label):
    assert layout(paths) == (split, label)


def test_folder_with_everything_odd(tmp_path):
    odd = "n\u00e4me 100% 'q'\nx.png"
    image(tmp_path / "train" / "a" / odd, 1)
    image(tmp_path / "test" / "b" / "plain", 2)
    (tmp_path / "test" / "b" / "copy.png").symlink_to(tmp_path / "test" / "b" / "plain")
    (tmp_path / "test" / "b" / "loop").symlink_to(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / ".hidden.png").write_text("no")
    (tmp_path / "test" / "b" / "broken.jpg").write_text("not a jpeg")
    samples = from_source(tmp_path)
    assert samples.ids == ("test/b/broken.jpg", "test/b/plain", f"train/a/{odd}")
    assert samples.split.tolist() == ["test", "test", "train"]
    assert [samples.classes[c] for c in samples.labels] == ["b", "b", "a"]
    assert topics(samples) == {"symlink copy": 1, "not an image": 1}
    assert samples.names == samples.ids


def test_labels_file_replaces_the_layout(tmp_path):
    image(tmp_path / "x" / "1.png")
    image(tmp_path / "x" / "2.png")
    labels = tmp_path / "labels.csv"
    labels.write_text("path,label,group,split\nx/1.png,cat,g1,training\n./x/2.png,,g2,test\nelsewhere.png,dog,g,test\n")
    samples = from_folder(tmp_path, labels=labels)
    assert samples.classes == ("cat",)
    assert samples.labels.tolist() == [0, -1]
    assert samples.split.tolist() == ["train", "test"]
    assert samples.column("group").tolist() == ["g1", "g2"]
    assert topics(samples)["unlabelled"] == 1
    with pytest.raises(FieldError, match="no column 'patient'"):
        samples.column("patient")


def test_csv_corpus(tmp_path):
    image(tmp_path / "i" / "1.png")
    table = tmp_path / "t.csv"
    table.write_text(
        "\ufeffpath,label,split,patient\ni/1.png,a,Train,p1\ni/missing.png,b,dev,p2\ni/1.png,a,train,p1\n", "utf-8"
    )
    samples = from_source(table)
    assert samples.ids == ("i/1.png", "i/missing.png")
    assert samples.split.tolist() == ["train", "val"]
    assert samples.column("patient").tolist() == ["p1", "p2"]
    assert topics(samples) == {"duplicate path": 1}


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        ("name\nx\n", FieldError, "no column 'path'"),
        ("path,path\nx,y\n", FieldError, "each once"),
        ("path\n", EmptyError, "no rows"),
        ("path\nx,y\n", InputError, "row 2"),
    ],
)
def test_wrong_tables_are_explained(tmp_path, text, error, words):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(error, match=words):
        from_csv(tmp_path / "t.csv")


def test_wrong_paths_are_explained(tmp_path):
    with pytest.raises(PathError, match="nothing at"):
        from_source(tmp_path / "no")
    with pytest.raises(EmptyError, match="no image"):
        from_source(tmp_path)
    image(tmp_path / "one.png")
    with pytest.raises(PathError, match="single image"):
        from_source(tmp_path / "one.png")
    with pytest.raises(PathError, match="cannot be read"):
        from_folder(tmp_path, labels=tmp_path / "no.csv")


def test_groups_file(tmp_path):
    for name in ("1.png", "2.png", "e\u0301.png"):
        image(tmp_path / name)
    samples = from_folder(tmp_path)
    groups = tmp_path / "g.csv"
    groups.write_text("path,group\n1.png,p\n\u00e9.png,q\n1.png,p\n", "utf-8")
    assert read_groups(groups, samples).tolist() == ["p", "", "q"]
    groups.write_text("path,group\n1.png,p\n1.png,q\n")
    with pytest.raises(InputError, match="twice"):
        read_groups(groups, samples)
    groups.write_text("path,group\n/abs/1.png,p\n")
    with pytest.raises(InputError, match="no row"):
        read_groups(groups, samples)


@pytest.mark.data
def test_real_folders(real_data):
    yale = from_folder(real_data / "yale_a", labels=real_data / "yale_a" / "groups.csv")
    assert (len(yale), len(yale.classes)) == (164, 15)
    blood = from_folder(real_data / "blood_cells")
    assert (len(blood), len(blood.classes), set(blood.split)) == (2088, 4, {"train", "test"})
    assert len(from_folder(real_data / "duplicates")) == 34


@pytest.mark.parametrize(
    ("paths", "split", "label"),
    [
        (["train/cat/x", "train/cat/y"], ["train", "train"], ["cat", "cat"]),
        (["cat/x", "cat/y"], ["", ""], ["cat", "cat"]),
        (["images/cat/x", "images/dog/y"], ["", ""], ["cat", "dog"]),
        (["train/a/x", "test/b/y", "extra/a/z"], ["train", "test", "extra"], ["a", "b", "a"]),
        (["TRAIN/a/x", "TEST/b/y", "z"], ["", "", ""], ["", "", ""]),
        (["x"], [""], [""]),
    ],
)
def test_layout_of_poorer_corpora(paths, split, label):
    assert layout(paths) == (split, label)


def note(samples, topic):
    return next(n for n in samples.notes if n.topic == topic)


def test_hard_links_are_one_image_and_a_file_on_both_sides_is_a_problem(tmp_path):
    image(tmp_path / "test" / "b" / "1.png")
    image(tmp_path / "train" / "c" / "2.png", 1)
    (tmp_path / "train" / "a").mkdir()
    (tmp_path / "train" / "a" / "1.png").hardlink_to(tmp_path / "test" / "b" / "1.png")
    samples = from_folder(tmp_path)
    assert samples.ids == ("test/b/1.png", "train/c/2.png")
    assert note(samples, "hard link").examples == ("train/a/1.png -> test/b/1.png",)
    assert note(samples, "one file, two split values").level == "problem"
    assert note(samples, "one file, two class values").count == 1


def test_a_link_that_comes_first_does_not_take_the_name_of_the_file(tmp_path):
    image(tmp_path / "b" / "1.png")
    image(tmp_path / "z" / "2.png", 1)
    (tmp_path / "a").symlink_to(tmp_path / "z")
    (tmp_path / "b" / "0.png").symlink_to(tmp_path / "b" / "1.png")
    samples = from_folder(tmp_path)
    assert samples.ids == ("b/1.png", "z/2.png")
    assert samples.classes == ("b", "z")
    assert sorted(n.examples for n in samples.notes if n.topic == "symlink copy") == [("a",), ("b/0.png -> b/1.png",)]


def test_linked_folder_elsewhere_is_followed_and_a_dangling_link_is_a_candidate(tmp_path):
    image(tmp_path / "away" / "1.png")
    root = tmp_path / "root"
    root.mkdir()
    (root / "a").symlink_to(tmp_path / "away")
    (root / "gone.png").symlink_to(tmp_path / "nothing.png")
    assert from_folder(root).ids == ("a/1.png", "gone.png")


def test_files_that_are_no_images_are_counted_by_kind(tmp_path):
    image(tmp_path / "1.png")
    for name in ("a.csv", "b.csv", "c.svg", "README"):
        (tmp_path / name).write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    image(tmp_path / "really a picture.svg")
    (tmp_path / "text that begins like a picture").write_text("P1 is what we call the first paper")
    found = from_folder(tmp_path)
    assert found.ids == ("1.png", "really a picture.svg")
    other = note(found, "not an image")
    assert (other.count, other.level) == (5, "info")
    assert "2 .csv, 2 no suffix, 1 .svg" in other.text
    assert set(other.examples) == {"a.csv", "b.csv", "c.svg", "README", "text that begins like a picture"}


def test_a_named_pipe_does_not_stop_the_walk(tmp_path):
    import os

    image(tmp_path / "1.png")
    os.mkfifo(tmp_path / "pipe")
    assert from_folder(tmp_path).ids == ("1.png",)


def test_undecodable_names_and_labels(tmp_path):
    import os

    image(tmp_path / "x" / "1.png")
    raw = os.fsencode(tmp_path) + b"/x/n\xffme.png"
    os.rename(tmp_path / "x" / "1.png", raw)  # noqa: PTH104 - bytes
    (tmp_path / "l.csv").write_bytes(b"path,label\nx/n\xffme.png,<b>\xe9</b>\n")
    samples = from_folder(tmp_path, labels=tmp_path / "l.csv")
    assert samples.ids == ("x/n\udcffme.png",)
    assert samples.classes == ("<b>\udce9</b>",)
    assert os.fsencode(samples.paths[0]) == raw


def test_rows_that_name_no_image_and_contradictions_are_told(tmp_path):
    image(tmp_path / "1.png")
    (tmp_path / "l.csv").write_text("path,label\n1.png,a\nmissing.png,b\n")
    assert note(from_folder(tmp_path, labels=tmp_path / "l.csv"), "labels").examples == ("missing.png",)
    (tmp_path / "c.csv").write_text("path,label\n1.png,a\n./1.png,b\n")
    samples = from_csv(tmp_path / "c.csv")
    assert samples.classes == ("a",)
    assert topics(samples) == {"duplicate path": 1, "one file, two class values": 1}


def test_two_unicode_forms_of_one_name(tmp_path):
    for name in ("e\u0301.png", "\u00e9.png"):
        image(tmp_path / name, len(name))
    samples = from_folder(tmp_path)
    groups = tmp_path / "g.csv"
    groups.write_text("path,group\n\u00e9.png,p\n", "utf-8")
    assert dict(zip(samples.ids, read_groups(groups, samples).tolist(), strict=True)) == {
        "e\u0301.png": "",
        "\u00e9.png": "p",
    }
    groups.write_text("path,group\n./\u00e9.png,p\n", "utf-8")
    with pytest.raises(InputError, match="fits 2 images"):
        read_groups(groups, samples)
