"""What tools, cameras and people make of names: exports, augmentations, copies, sessions, shards."""

from __future__ import annotations

from random import Random

from .convention import clock, day, hexa, no, pick, yes


@yes
def export_hash_three_times(r: Random):
    for k in pick(r, 200, 1, 9999):
        for _ in range(3):
            yield f"{r.choice(['train', 'valid', 'test'])}/images/DSC{k:05d}_JPG.rf.{hexa(r, 32)}.jpg", k, k % 3


@yes
def augmented_suffix(r: Random):
    for k in pick(r, 150, 1, 9999):
        yield f"IMG_{k:04d}.jpg", k, k % 2
        for a in range(4):
            yield f"IMG_{k:04d}_aug_{a}.jpg", k, k % 2


@yes
def augmented_by_word_before(r: Random):
    for k in range(1, 160):
        c = "sick" if k % 2 else "well"
        yield f"{c}/cell_{k:03d}.png", k, c
        for w in r.sample(["rotated", "flipped", "noisy", "blurred"], 2):
            yield f"{c}/{w}_cell_{k:03d}.png", k, c


@yes
def augmented_by_transform_behind(r: Random):
    for k in range(1, 130):
        for w in ("", "_hflip", "_vflip", "_rot90", "_rot180", "_brightness"):
            yield f"leaf{k:04d}{w}.png", k, k % 4


@yes
def one_image_generated_many_times(r: Random):
    for k in pick(r, 120, 1, 2000):
        for _ in range(6):
            yield f"img{k:04d}_0_{r.randrange(10000)}.jpeg", k, k % 3


@yes
def file_manager_copies(r: Random):
    for k in pick(r, 400, 1, 9999):
        yield f"DSC_{k:04d}.JPG", k, k % 3
        for c in range(1, r.choice([1, 2, 3])):
            yield f"DSC_{k:04d} ({c}).JPG", k, k % 3
        if r.random() < 0.2:
            yield f"DSC_{k:04d} - Copy.JPG", k, k % 3


@yes
def sessions_as_dates(r: Random):
    for _ in range(30):
        y, m, d = day(r, 2021, 2)
        n = r.randrange(1, 9000)
        for k in range(r.randint(8, 30)):
            yield f"session_{y}-{m:02d}-{d:02d}/IMG_{n + k:04d}.jpg", (y, m, d), r.randrange(3)


@yes
def date_folder_subject_camera(r: Random):
    for p in range(1, 31):
        for _ in range(r.randint(1, 3)):
            y, m, d = day(r, 2021, 1)
            for cam in (1, 2):
                for k in range(1, r.randint(3, 7)):
                    yield f"{y}-{m:02d}-{d:02d}/subj{p:02d}/cam{cam}/{k:04d}.png", p, r.randrange(2)


@yes
def image_and_mask_folders(r: Random):
    for k in pick(r, 300, 1, 5000):
        yield f"images/img_{k:05d}.png", k, k % 2
        yield f"masks/img_{k:05d}.png", k, k % 2


@yes
def case_folder_fixed_names(r: Random):
    for k in pick(r, 150, 1, 900):
        for n in ("image.png", "mask.png", "overlay.png"):
            yield f"case{k:03d}/{n}", k, k % 3


@yes
def qualities_of_one_photo(r: Random):
    for k in range(1, 90):
        for q in (10, 30, 50, 70, 90):
            yield f"photo{k:02d}_q{q}.jpg", k, q


@yes
def three_conventions_of_three_labs(r: Random):
    for p in range(1, 70):
        for s in range(1, 4):
            yield f"labA/S{p:03d}_scan{s}.tif", ("a", p), r.randrange(2)
    for p in pick(r, 60, 1000, 9999):
        for e in ("left", "right"):
            yield f"labB/{p}-{e}.jpg", ("b", p), r.randrange(2)
    for _ in range(50):
        h = hexa(r, 12)
        for k in range(1, 5):
            yield f"labC/{h}/{k:03d}.png", ("c", h), r.randrange(2)


@yes
def patients_and_anonymous_mixed(r: Random):
    for p in pick(r, 200, 1, 999):
        for v in range(1, r.randint(3, 5)):
            yield f"patient{p:03d}_view{v}.png", p, p % 2
    for _ in range(80):
        h = hexa(r, 32)
        yield f"{h}.png", h, r.randrange(2)


@yes
def dotted_version_of_subject(r: Random):
    for p in range(101, 160):
        for t in range(1, 5):
            for m in ("pre", "post"):
                yield f"sub.{p}.trial.{t}.{m}.png", p, m


@yes
def upper_and_lower_case_mixed(r: Random):
    for p in range(1, 120):
        for v in range(1, 5):
            word = r.choice(["Patient", "patient", "PATIENT"])
            yield f"{word}_{p:03d}_{r.choice(['Img', 'img'])}{v}.png", p, p % 3


@yes
def padded_and_unpadded_numbers(r: Random):
    for p in range(1, 130):
        for v in range(1, 4):
            yield f"subject{p}_scan{v}.png", p, p % 2


@yes
def counter_restarts_in_sessions(r: Random):
    for s in range(1, 26):
        for k in range(1, r.randint(10, 40)):
            yield f"ses{s:02d}/capture_{k:04d}.png", s, r.randrange(3)


@no
def numbers_in_class_folders(r: Random):
    for c in ("cat", "dog", "bird"):
        for k in range(1, 350):
            yield f"{c}/{k:04d}.jpg", None, c


@no
def split_and_counter(r: Random):
    for part, n in (("train", 700), ("val", 150), ("test", 200)):
        for k in range(n):
            yield f"{part}/{part}_{k:05d}.png", None, r.randrange(3)


@no
def shards_of_thousand(r: Random):
    for k in range(3600):
        yield f"images_{k // 400:03d}/{k:08d}.png", None, r.randrange(3)


@no
def zip_parts(r: Random):
    for k in r.sample(range(10**6), 900):
        yield f"part{k % 5}/{k:06d}.jpg", None, r.randrange(2)


@no
def fold_folders(r: Random):
    for k in range(1000):
        yield f"fold{k % 5}/sample_{k:05d}.png", None, r.randrange(3)


@no
def milliseconds_since_1970(r: Random):
    for _ in range(700):
        yield f"{1584393023481 + r.randrange(10**10)}.jpg", None, r.randrange(2)


@no
def screenshots(r: Random):
    for _ in range(400):
        y, m, d = day(r, 2018, 6)
        h, mi, s = clock(r)
        yield f"Screenshot_{y}{m:02d}{d:02d}-{h:02d}{mi:02d}{s:02d}.png", None, r.randrange(2)


@no
def batch_index_label(r: Random):
    for b in range(1, 6):
        for k in range(200):
            c = r.randrange(10)
            yield f"batch_{b}_idx_{k:05d}_label_{c}.png", None, c


@no
def generated_by_epoch(r: Random):
    for e in range(10, 110, 10):
        for k in range(64):
            yield f"epoch{e:03d}_sample{k:02d}.png", None, r.randrange(2)


@no
def sites_and_counters(r: Random):
    for s in "ABCDE":
        for k in range(1, 200):
            yield f"site{s}_{k:04d}.png", None, r.randrange(2)


@no
def two_random_numbers(r: Random):
    for _ in range(900):
        yield f"{r.randrange(1000, 9999)}_{r.randrange(1000, 9999)}.png", None, r.randrange(3)


@no
def keras_class_prefix(r: Random):
    for _ in range(1000):
        c = r.choice(["cats", "dogs"])
        yield f"{c}/{c}_{r.randrange(300)}_{r.randrange(10000)}.jpeg", None, c


@no
def size_and_counter(r: Random):
    for k in range(900):
        yield f"256x256/img_{k:05d}.png", None, r.randrange(3)


@no
def search_engine_downloads(r: Random):
    for c in ("beagle", "boxer", "husky"):
        for k in range(1, 260):
            yield f"{c}/images{k}.jpg", None, c


@no
def export_hash_once(r: Random):
    for k in pick(r, 600, 1, 9999):
        yield f"train/images/IMG_{k:04d}_JPG.rf.{hexa(r, 32)}.jpg", None, r.randrange(3)
