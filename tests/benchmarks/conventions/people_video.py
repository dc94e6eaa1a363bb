"""People, faces, gestures, endoscopy and other video."""

from __future__ import annotations

from random import Random

from .convention import hexa, no, no_given_labels, pick, yes

_FIRST = "anna boris carla david elena felix greta henry irina jonas karin louis maria nadia oscar petra rolf sonja"
_LAST = "adler brandt cohen duarte evans fischer garcia hansen ito jensen kumar lopez meyer novak olsen peters"
FIRST, LAST = (tuple(text.split()) for text in (_FIRST, _LAST))


def people(r: Random, n: int, between: str) -> list[str]:
    """At most n different invented names."""
    pairs = zip(r.choices(FIRST, k=n), r.choices(LAST, k=n), strict=True)
    return sorted({a.title() + between + b.title() for a, b in pairs})


@yes
def capsule_video_hash_frame(r: Random):
    for _ in range(45):
        v = hexa(r, 16)
        for f in sorted(r.sample(range(50000), r.randint(8, 40))):
            yield f"{v}_{f}.jpg", v, r.choice(["Normal", "Blood", "Ulcer", "Polyp"])


@yes
def surgery_frames(r: Random):
    for v in pick(r, 50, 1, 120):
        for f in range(0, r.randint(300, 900), 25):
            yield f"video{v:02d}/frame_{f:06d}.png", v, f * 7 // 900


@yes
def surgery_bare_folders(r: Random):
    for v in pick(r, 40, 1, 111):
        for f in range(0, r.randint(20, 40)):
            yield f"VID{v:02d}/{f:06d}.png", v, f // 6


@yes
def people_and_actions(r: Random):
    for p in range(1, 26):
        for a in ("boxing", "jogging", "walking", "running", "handwaving", "handclapping"):
            for d in range(1, 5):
                yield f"{a}/person{p:02d}_{a}_d{d}_uncomp.avi", p, a


@yes
def sign_tracks_per_class(r: Random):
    for c in range(20):
        for t in range(r.randint(8, 25)):
            for f in range(0, 30, 5):
                yield f"{c:05d}/{t:05d}_{f:05d}.ppm", (c, t), c


@yes
def pedestrians_cameras(r: Random):
    for p in pick(r, 150, 2, 1501):
        for c in r.sample(range(1, 7), r.randint(2, 5)):
            for _ in range(r.randint(1, 3)):
                yield f"{p:04d}_c{c}s{r.randint(1, 6)}_{r.randrange(150000):06d}_{r.randrange(1, 6):02d}.jpg", p, p % 2


@yes
def snippets_nested_folders(r: Random):
    for v in range(60):
        label = v % 7
        for f in range(0, r.randint(60, 200), 10):
            name = f"ILSVRC2015_VID_train_{v // 30:04d}/ILSVRC2015_train_{v:08d}/{f:06d}.JPEG"
            yield name, v, label


@yes
def drives(r: Random):
    for d, n in (("2011_09_26", 14), ("2011_09_28", 11), ("2011_09_29", 6)):
        for k in pick(r, n, 1, 120):
            for cam in (2, 3):
                for f in range(0, 60, 6):
                    yield f"{d}_drive_{k:04d}_sync/image_{cam:02d}/data/{f:010d}.png", (d, k), r.randrange(3)


@yes
def faces_initials_expression_number(r: Random):
    n = 1
    for p in ("KA", "KL", "KM", "KR", "MK", "NA", "NM", "TM", "UY", "YM"):
        for e in ("AN", "DI", "FE", "HA", "NE", "SA", "SU"):
            for k in range(1, 4):
                yield f"{p}.{e}{k}.{n}.tiff", p, e
                n += 1


@yes
def faces_codes_without_separator(r: Random):
    for sex in "FM":
        for p in range(1, 36):
            for e in ("AF", "AN", "DI", "HA", "NE", "SA", "SU"):
                for v in ("FL", "HL", "S", "HR", "FR"):
                    yield f"{sex}{p:02d}{e}{v}.JPG", (sex, p), e


@yes
def actors_and_codes(r: Random):
    for a in range(1, 25):
        for e in range(1, 9):
            for s in range(1, 3):
                for t in range(1, 3):
                    yield f"Actor_{a:02d}/03-01-{e:02d}-{s:02d}-{t:02d}-01-{a:02d}.png", a, e


@yes
def subjects_and_tasks(r: Random):
    for sex, n in (("F", 23), ("M", 18)):
        for p in range(1, n + 1):
            for t in range(1, 9):
                for f in (1, 40, 80):
                    yield f"{sex}{p:03d}/T{t}/{f:04d}.jpg", (sex, p), t


@yes
def real_names_as_folders(r: Random):
    names = people(r, 60, " ")
    for n in names:
        first = r.randrange(9000)
        for k in range(r.randint(3, 15)):
            yield f"{n}/IMG_{first + k:04d}.jpg", n, r.randrange(3)


@yes
def real_names_and_index(r: Random):
    names = people(r, 300, "_")
    for n in names:
        for k in range(1, r.choice([2, 3, 3, 5])):
            yield f"{n}_{k:04d}.jpg", n, r.choice(["smiling", "not smiling"])


@yes
def class_then_subject_folder(r: Random):
    for c in ("sitting", "standing", "lying"):
        for p in range(1, 21):
            for k in range(1, r.randint(4, 9)):
                yield f"{c}/subj{p:02d}/{k:03d}.png", p, c


@yes
def heart_video_codes(r: Random):
    for _ in range(70):
        v, label = f"0X{hexa(r, 16).upper()}", r.randrange(2)
        for f in sorted(r.sample(range(200), 6)):
            yield f"{v}_frame{f}.png", v, label


@yes
def signers_repetitions(r: Random):
    for s in pick(r, 14, 1, 40):
        for c in "ABCDEFGHIK":
            for k in range(1, 5):
                yield f"{c}/signer{s:02d}_{c}_rep{k}.png", s, c


@yes
def fingerprints(r: Random):
    for p in range(1, 121):
        sex = "M" if p % 3 else "F"
        for hand in ("Left", "Right"):
            for f in ("index", "little", "middle", "ring", "thumb"):
                yield f"{p}__{sex}_{hand}_{f}_finger.BMP", p, f


@yes
def pain_two_number_subject(r: Random):
    for s in pick(r, 25, 42, 125):
        code = f"{s:03d}-{r.choice('abdhkmnt')}{r.choice('abdhkmnt')}{s:03d}"
        for t in range(1, r.randint(2, 6)):
            for f in range(1, 60, 6):
                yield (
                    f"{code}/{code.split('-')[1]}t{t}aaaff/{code.split('-')[1]}t{t}aaaff{f:03d}.png",
                    s,
                    r.randrange(4),
                )


@no
def age_gender_race_stamp(r: Random):
    for _ in range(1200):
        stamp = f"2017{r.randint(1, 2):02d}{r.randint(1, 28):02d}{r.randrange(24 * 10**7):09d}"
        yield f"{r.randint(1, 90)}_{r.randrange(2)}_{r.randrange(5)}_{stamp}.jpg", None, r.randrange(2)


@no_given_labels
def person_is_the_class(r: Random):
    for p in range(1, 41):
        for k in range(1, 11):
            yield f"s{p}/{k}.pgm", None, p


@no_given_labels
def celebrity_is_the_class(r: Random):
    for a in FIRST:
        for k in range(1, r.randint(10, 30)):
            yield f"pins_{a.title()} Miller/{a.title()} Miller{r.randrange(100, 999)}_{k}.jpg", None, a


@no
def driver_class_folder_counter(r: Random):
    for k in pick(r, 1000, 1, 102150):
        c = r.randrange(10)
        yield f"c{c}/img_{k}.jpg", None, c


@no
def one_long_film(r: Random):
    for f in range(0, 9000, 9):
        yield f"frame_{f:06d}.png", None, f // 3000


@no
def faces_counter_expression_folders(r: Random):
    for c in ("anger", "happy", "sad", "neutral"):
        for k in range(r.randint(200, 300)):
            yield f"{r.choice(['train', 'test'])}/{c}/im{k}.png", None, c
