"""Fundus, OCT, dermoscopy."""

from __future__ import annotations

from random import Random

from .convention import day, hexa, letters, no, pick, yes


@yes
def oct_class_patient_index(r: Random):
    for c in ("CNV", "DME", "DRUSEN", "NORMAL"):
        for p in r.sample(range(10000, 9999999), 90):
            for k in range(1, r.choice([2, 3, 6, 12])):
                yield f"{c}/{c}-{p}-{k}.jpeg", p, c


@yes
def optic_eyes_od_os(r: Random):
    for p in pick(r, 244, 2, 320):
        label = r.randrange(3)
        for e in ("OD", "OS"):
            yield f"RET{p:03d}{e}.jpg", p, label


@yes
def eyes_left_right_with_label_folders(r: Random):
    for p in pick(r, 400, 0, 4784):
        for e in ("left", "right"):
            c = r.randrange(8)
            yield f"{'NDGCAHMO'[c]}/{p}_{e}.jpg", p, c


@yes
def vessels_and_manuals(r: Random):
    for k in range(1, 41):
        part = "training" if k > 20 else "test"
        yield f"{part}/images/{k:02d}_{part}.tif", k, k % 2
        yield f"{part}/1st_manual/{k:02d}_manual1.gif", k, k % 2
        yield f"{part}/mask/{k:02d}_{part}_mask.gif", k, k % 2


@yes
def age_study_visits(r: Random):
    for p in pick(r, 150, 50000, 59999):
        for v in sorted(r.sample(range(0, 20, 2), r.randint(1, 4))):
            for e in ("LE", "RE"):
                yield f"{p}_V{v:02d}_{e}_F2.jpg", p, r.randrange(4)


@yes
def patient_date_eye(r: Random):
    for p in pick(r, 160, 1, 99999):
        for _ in range(r.randint(1, 4)):
            y, m, d = day(r)
            for e in ("OD", "OS"):
                yield f"{p:05d}_{y}{m:02d}{d:02d}_{e}.png", p, r.randrange(2)


@yes
def clinical_patient_lesion_image(r: Random):
    for p in pick(r, 400, 4, 2200):
        for lesion in pick(r, r.choice([1, 1, 2]), 1, 4000):
            for image in pick(r, r.choice([1, 2, 3]), 1, 1000):
                yield f"PAT_{p}_{lesion}_{image}.png", p, r.choice(["BCC", "ACK", "NEV", "SEK"])


@yes
def lesion_follow_up(r: Random):
    for k in pick(r, 150, 1, 999):
        for t in ["baseline", "followup1", "followup2"][: r.randint(1, 3)]:
            for m in ("dermo", "clinic"):
                yield f"lesion_{k:04d}_{t}_{m}.jpg", k, r.randrange(2)


@yes
def dermoscopy_nested_masks(r: Random):
    for k in pick(r, 180, 2, 440):
        base = f"IMD{k:03d}"
        label = r.randrange(3)
        yield f"{base}/{base}_Dermoscopic_Image/{base}.bmp", k, label
        yield f"{base}/{base}_lesion/{base}_lesion.bmp", k, label


@yes
def augmentor_original(r: Random):
    for k in pick(r, 90, 1, 4000):
        c = "mel" if k % 2 else "nev"
        for _ in range(r.randint(3, 7)):
            u = f"{hexa(r, 8)}-{hexa(r, 4)}-4{hexa(r, 3)}-a{hexa(r, 3)}-{hexa(r, 12)}"
            yield f"{c}/{c}_original_ISIC_{k:07d}.jpg_{u}.jpg", k, c


@yes
def glaucoma_initials_visits(r: Random):
    seen = set()
    while len(seen) < 70:
        seen.add(letters(r, 2) + f"{r.randint(40, 99)}")
    for code in sorted(seen):
        for v in range(1, r.randint(2, 5)):
            for e in "RL":
                yield f"{code}_visit{v}_{e}.jpg", code, r.randrange(2)


@no
def skin_archive_counter(r: Random):
    for k in pick(r, 1000, 24306, 34320):
        yield f"ISIC_{k:07d}.jpg", None, r.randrange(7)


@no
def skin_md5_in_class_folders(r: Random):
    for _ in range(800):
        c = r.choice("abcde")
        yield f"class_{c}/{hexa(r, 32)}.jpg", None, c


@no
def fundus_class_behind_counter(r: Random):
    for k in range(1, 151):
        for c in ("dr", "g", "h"):
            yield f"{c}/{k:03d}_{c}.JPG", None, c


@no
def glaucoma_image_counter(r: Random):
    for k in range(1020):
        yield f"image_{k}.jpg", None, r.randrange(2)


@no
def retina_code_twelve_hex(r: Random):
    for _ in range(900):
        yield f"{hexa(r, 12)}.png", None, r.randrange(5)


@no
def eye_release_and_counter(r: Random):
    for k in range(1, 300):
        yield f"r{1 + k % 3}_Im{k:03d}.jpg", None, r.randrange(2)


@no
def atlas_web_pages(r: Random):
    for c in ("psoriasis", "eczema", "acne-cystic", "tinea-corporis"):
        for k in range(1, r.randint(120, 200)):
            yield f"{c}/{c}-{k}.jpg", None, c
