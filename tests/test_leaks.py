"""Every leak, whatever the order of the samples; and the incumbent's inputs and methods."""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
import pytest

from fiftyone_hsd.errors import FieldError, InputError
from fiftyone_hsd.leaks import SELECTABLE, leaks
from fiftyone_hsd.model import Descriptors, Samples


def corpus(split, labels=None, classes=()):
    n = len(split)
    return Samples(
        ids=tuple(f"{i}.png" for i in range(n)),
        paths=tuple(f"/none/{i}.png" for i in range(n)),
        labels=np.full(n, -1) if labels is None else np.asarray(labels),
        classes=classes,
        split=np.array(split, np.str_),
        metadata={"fold": np.array([{"train": "f0", "": ""}.get(s, "f1") for s in split], np.str_)},
        root="/none",
    )


def drifting(groups, seed=0):
    """Five consecutive frames of each of so many drifting scenes."""
    rng, rows = np.random.default_rng(seed), []
    for _ in range(groups):
        v = rng.normal(size=64)
        for _ in range(5):
            v = v + 0.35 * rng.normal(size=64)
            rows.append(v)
    return np.array(rows, np.float32)


def at(degrees):
    v = np.zeros(64)
    v[:2] = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return v


def background():
    rows = np.random.default_rng(0).normal(size=(400, 64))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    return np.concatenate([rows, -rows])


TRIO = [("A", at(0), "train"), ("B", at(50), "test"), ("T", at(28), "test")]
ORDERS = list(itertools.permutations(TRIO))


@pytest.mark.parametrize("order", ORDERS, ids=["".join(n for n, _, _ in o) for o in ORDERS])
def test_one_leak_is_found_in_every_order(order):
    """The incumbent finds it in two of these six."""
    split = [s for _, _, s in order] + ["train"] * 800
    vectors = np.concatenate([np.stack([v for _, v, _ in order]), background()])
    found = leaks(corpus(split), embeddings=vectors, threshold=0.2)
    assert sorted(order[i][0] for i in found.rows) == ["A", "T"]


def test_a_sample_of_no_split_hides_nothing_and_leaks_nothing():
    split = ["", "train", "test"]
    found = leaks(corpus(split), embeddings=np.stack([at(0), at(10), at(20)]), threshold=0.2)
    assert found.leak_ids == ["1.png", "2.png"]
    assert [n.count for n in found.notes if n.topic == "split"] == [1]


@pytest.mark.parametrize("threshold", [0.0, 0.05, 0.2, 0.5])
def test_every_pair_and_every_rate_against_a_brute_force(threshold):
    x = drifting(60)
    rng = np.random.default_rng(1)
    split = rng.choice(["train", "val", "test", ""], len(x), p=[0.5, 0.2, 0.2, 0.1])
    labels = rng.integers(-1, 3, len(x))
    x[3], split[3], split[4], x[4] = 0, "test", "train", x[0]
    split[0] = "test"
    found = leaks(corpus(split, labels, ("a", "b", "c")), threshold=threshold, embeddings=x)
    wide = x.astype(np.float64)
    with np.errstate(invalid="ignore"):
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    near = 1 - wide @ wide.T <= threshold + 1e-12
    near &= (split[:, None] != split) & (split != "")[:, None] & (split != "")
    assert list(zip(found.a.tolist(), found.b.tolist(), strict=True)) == list(
        zip(*(v.tolist() for v in np.nonzero(np.triu(near))), strict=True)
    )
    assert found.rows.tolist() == np.flatnonzero(near.any(1)).tolist()
    for one, other in itertools.permutations(["train", "val", "test"], 2):
        hit = near[:, split == other].any(1) & (split == one)
        rate = found.rate(one, other)
        assert (rate.leaking, rate.n) == (hit.sum(), (split == one).sum())
        for code, name in enumerate("abc"):
            rate = found.rate(one, other, name)
            assert (rate.leaking, rate.n) == ((hit & (labels == code)).sum(), ((split == one) & (labels == code)).sum())
        pairs = {(int(i.split(".")[0]), int(j.split(".")[0])) for i, j, _ in found.pairs(one, other)}
        i, j = np.nonzero(near & (split == one)[:, None] & (split == other))
        assert pairs == set(zip(i.tolist(), j.tolist(), strict=True))
    assert found.backend == "numpy blocks, exact"


def test_independent_samples_do_not_leak():
    x = np.random.default_rng(0).normal(size=(400, 64))
    found = leaks(corpus(["train", "test"] * 200), embeddings=x, threshold=0.2)
    assert found.leak_ids == []
    assert found.rate("test", "train").rate == 0
    assert len(found.leaks_view()) == 0
    assert len(found.no_leaks_view()) == 400


def test_a_list_of_pairs_that_is_cut_leaves_the_rates_complete():
    x, split = drifting(60), ["train", "test"] * 150
    whole = leaks(corpus(split), embeddings=x)
    cut = leaks(corpus(split), embeddings=x, max_pairs=3)
    assert cut.truncated
    assert not whole.truncated
    assert len(cut.a) == 3 < len(whole.a)
    assert cut.rates == whole.rates


def test_views_of_plain_samples():
    samples = corpus(["train", "test", "val", "test"])
    found = leaks(samples, embeddings=np.stack([at(0), at(5), at(9), at(90)]), threshold=0.01)
    assert found.leaks_view().ids == ("0.png", "1.png", "2.png")
    assert found.no_leaks_view().ids == ("3.png",)
    assert found.leaks_for_sample("1.png").ids == ("1.png", "2.png", "0.png")
    assert found.leaks_for_sample("3.png").ids == ("3.png",)
    assert not found.truncated
    with pytest.raises(InputError, match="no tags"):
        found.tag_leaks()
    with pytest.raises(FieldError):
        found.leaks_for_sample("7.png")
    with pytest.raises(FieldError, match="test against train"):
        found.rate("test", "fold 1")


def test_the_splits_of_plain_samples():
    samples, x = corpus(["train", "test", "val"]), np.stack([at(0)] * 3)
    assert len(leaks(samples, embeddings=x).a) == 3
    assert len(leaks(samples, ["train", "test"], embeddings=x).a) == 1
    assert len(leaks(samples, split=["val", "test"], embeddings=x).a) == 1
    assert {r.partition for r in leaks(samples, "fold", embeddings=x).rates} == {"f0", "f1"}
    assert leaks(samples, embeddings=Descriptors("mine", x.astype(np.float32))).descriptor == "mine"


@pytest.mark.parametrize(
    ("how", "error"),
    [
        ({"splits": ["train", "tset"]}, FieldError),
        ({"splits": "nothing"}, FieldError),
        ({"splits": ["train"]}, InputError),
        ({"splits": {"train": None}}, InputError),
        ({"splits": ["train", "test"], "split": "fold"}, InputError),
        ({"threshold": -0.1}, InputError),
        ({"threshold": 2.1}, InputError),
        ({"embeddings": np.ones((2, 4))}, InputError),
        ({"embeddings": np.full((3, 4), np.nan)}, InputError),
        ({"embeddings": "a field"}, InputError),
        ({"embeddings": {}}, InputError),
        ({"roi_field": "boxes"}, InputError),
        ({"model": "resnet18-imagenet-torch"}, InputError),
        ({"similarity_index": "key"}, InputError),
        ({"label_field": "ground_truth"}, InputError),
    ],
)
def test_what_cannot_be_used_is_refused(how, error):
    with pytest.raises(error):
        leaks(corpus(["train", "test", "val"]), **{"embeddings": np.ones((3, 4)), **how})


def test_vectors_are_computed_when_none_are_given(small_corpus):
    from fiftyone_hsd.folder import from_folder

    samples = from_folder(small_corpus / "images").take(np.arange(40))
    split = np.array(["train", "test"] * 20)
    samples = Samples(samples.ids, samples.paths, samples.labels, samples.classes, split, {}, samples.root)
    found = leaks(samples, threshold=0.0001, descriptor="colour_histogram")
    assert found.descriptor.startswith("colour_histogram")
    assert found.rate("test", "train").n == 20


@pytest.fixture
def fo(mongod):
    # Importing it warns about its use of strawberry, connecting about mongoengine's; the rest is held to the rule.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import fiftyone
        import fiftyone.brain

        fiftyone.list_datasets()
    return fiftyone


@pytest.mark.mongod
class TestFiftyOne:
    """The same inputs as compute_leaky_splits, on a real database."""

    @pytest.fixture
    def dataset(self, fo):
        dataset = fo.Dataset()
        samples = [
            fo.Sample(f"/none/{i}.png", tags=[s] if s else [], part=s or None, parts=[s] if s else [], vector=at(d))
            for i, (s, d) in enumerate([("train", 0), ("test", 5), ("val", 9), ("test", 90), ("", 1)])
        ]
        for sample, label in zip(samples, "aabba", strict=True):
            sample["truth"] = fo.Classification(label=label)
        dataset.add_samples(samples, progress=False)
        yield dataset
        dataset.delete()

    def expected(self, dataset, found):
        ids = dataset.values("id")
        assert found.leak_ids == ids[:3]
        assert found.leaks_view().values("id") == ids[:3]
        assert found.no_leaks_view().values("id") == ids[3:]
        assert found.leaks_for_sample(ids[1]).values("id") == [ids[1], ids[2], ids[0]]
        assert found.leaks_for_sample(dataset[ids[1]]).values("id") == [ids[1], ids[2], ids[0]]
        assert (found.rate("test", "train").leaking, found.rate("test", "train").n) == (1, 2)
        assert (found.rate("test", "train", "b").leaking, found.rate("test", "train", "b").n) == (0, 1)

    def test_tags_fields_lists_and_dicts(self, dataset):
        x = np.array(dataset.values("vector"))
        names = ["train", "test", "val"]
        for splits in (names, "part", "parts", {n: dataset.match_tags(n) for n in names}):
            self.expected(dataset, leaks(dataset, splits, threshold=0.01, embeddings=x))
        self.expected(dataset, leaks(dataset, split="part", threshold=0.01, embeddings="vector"))

    def test_a_similarity_index(self, dataset):
        import fiftyone.brain as fob

        index = fob.compute_similarity(dataset, embeddings=np.array(dataset.values("vector")), brain_key="s")
        self.expected(dataset, leaks(dataset, "part", threshold=0.01, similarity_index="s"))
        self.expected(dataset, leaks(dataset, "part", threshold=0.01, similarity_index=index))

    def test_tagging_and_a_view_of_a_part(self, dataset):
        found = leaks(dataset.match_tags(["train", "test"]), ["train", "test"], 0.01, embeddings="vector")
        assert found.tag_leaks("twin").values("id") == dataset.values("id")[:2]
        assert dataset.match_tags("twin").values("id") == dataset.values("id")[:2]

    def test_a_sample_in_two_splits_is_a_leak(self, dataset):
        sample = dataset.skip(3).first()
        sample.tags.append("train")
        sample.save()
        found = leaks(dataset, ["train", "test"], 0.001, embeddings="vector")
        assert found.leak_ids == [sample.id]
        assert "more than one split" in found.notes[0].text

    def test_samples_without_a_vector_match_nothing(self, dataset):
        sample = dataset.first()
        sample["vector"] = None
        sample.save()
        found = leaks(dataset, "part", threshold=0.01, embeddings="vector")
        assert found.leak_ids == dataset.values("id")[1:3]
        assert any("no vector" in n.text for n in found.notes)

    def test_several_label_fields_are_no_reason_to_stop(self, fo, dataset):
        dataset.set_values("other", [fo.Classification(label="z")] * 5)
        found = leaks(dataset, "part", threshold=0.01, embeddings="vector")
        assert [n.level for n in found.notes if n.topic == "labels"] == ["not evaluated"]
        found = leaks(dataset, "part", threshold=0.01, embeddings="vector", label_field="truth")
        assert found.rate("test", "train", "a").leaking == 1

    def test_what_cannot_be_used_is_refused(self, dataset):
        for how in ({"splits": None}, {"splits": "nothing"}, {"splits": ["train", "tset"]}):
            with pytest.raises(InputError):
                leaks(dataset, embeddings="vector", **how)
        with pytest.raises(FieldError):
            leaks(dataset, "part", embeddings="nothing")

    def test_all_leaks_of_the_incumbent_are_among_ours(self, fo):
        """On vectors of zero mean both measure the same distance; the incumbent reports a part of what there is."""
        import fiftyone.brain as fob

        x = drifting(60)
        x = np.concatenate([x, -x]).astype(np.float64)
        split = np.random.default_rng(0).choice(["train", "test"], len(x))
        dataset = fo.Dataset()
        dataset.add_samples([fo.Sample(f"/none/{i}.png", split=s) for i, s in enumerate(split)], progress=False)
        theirs = set(fob.compute_leaky_splits(dataset, "split", threshold=0.1, embeddings=x.copy()).leak_ids)
        ours = leaks(dataset, "split", threshold=0.1, embeddings=x)
        assert theirs < set(ours.leak_ids)
        assert len(theirs) < 0.95 * len(ours.leak_ids)

    def test_views_of_many_ids_are_refused_and_tags_serve(self, dataset, monkeypatch):
        assert SELECTABLE == 10_000
        monkeypatch.setattr(sys.modules["fiftyone_hsd.leaks"], "SELECTABLE", 2)
        found = leaks(dataset, "part", threshold=0.01, embeddings="vector")
        for view in (found.leaks_view, found.no_leaks_view):
            with pytest.raises(InputError, match="tag_leaks"):
                view()
        assert len(found.tag_leaks()) == 3
