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
