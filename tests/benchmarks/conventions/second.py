"""A second collection for development, written after the first measurement and without its held-out half at hand."""

from __future__ import annotations

import string
from random import Random

from .convention import clock, day, hexa, letters, no_later, pick, uuid, yes_later

WORDS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet", "juniper", "knoll", "larch")


@yes_later
def accession_and_block(r: Random):
    for n in pick(r, 120, 100, 9999):
        year, label = r.randint(12, 19), r.randrange(3)
        for block in "ABC"[: r.randint(1, 3)]:
            for stain in ("HE", "Ki67"):
                yield f"S{year}-{n:04d}_{block}1_{stain}.png", (year, n), label


@yes_later
def histology_number_with_year(r: Random):
    for n in pick(r, 100, 1, 9999):
        year, label = r.randint(2017, 2020), r.randrange(2)
        for k in range(1, r.randint(3, 8)):
            yield f"H{year}-{n:05d}-2-HE-40x-{k:03d}.tif", (year, n), label


@yes_later
def patient_date_modality_folders(r: Random):
    for p in range(1, 50):
        for _ in range(r.randint(1, 3)):
            y, m, d = day(r)
            for mod in r.choice([["CT"], ["CT", "PT"], ["MR"]]):
                for z in range(1, r.randint(4, 9)):
                    yield f"pt-{p:02d}/{y}-{m:02d}-{d:02d}/{mod}/{z:04d}.dcm", p, p % 2


@yes_later
def arms_with_counters_of_their_own(r: Random):
    for arm, n in (("control", 40), ("treated", 55)):
        for p in range(1, n):
            for k in range(1, r.randint(3, 6)):
                yield f"{arm}_{p:02d}_img_{k}.tif", (arm, p), arm


@yes_later
def genotype_and_mouse(r: Random):
    for g, n in (("WT", 12), ("KO", 14), ("HET", 9)):
        for m in range(1, n):
            for s in range(1, 4):
                for c in ("dapi", "gfp"):
                    yield f"{g}_mouse{m}_section{s}_{c}.tif", (g, m), g


@yes_later
def donors_as_letters(r: Random):
    for d in "ABCDEFGHIJ":
        for t in range(1, 5):
            for k in range(1, 6):
                yield f"donor{d}_day{t}_rep{k}.png", d, t


@yes_later
def brain_imaging_structure(r: Random):
    for p in range(1, 80):
        yield f"sub-{p:03d}/anat/sub-{p:03d}_T1w.nii.gz", p, p % 2
        for k in (1, 2):
            yield f"sub-{p:03d}/func/sub-{p:03d}_task-rest_run-{k}_bold.nii.gz", p, p % 2


@yes_later
def brain_imaging_code_subjects(r: Random):
    for p in pick(r, 90, 110000, 729999):
        for s in range(1, r.randint(2, 4)):
            for k in range(1, 3):
                yield f"sub-CC{p}_ses-{s}_run-{k}.png", p, p % 3


@yes_later
def folder_number_again_in_name(r: Random):
    for p in range(1, 120):
        for k in range(1, r.randint(3, 7)):
            yield f"{p:04d}/{p:04d}_{k:04d}.png", p, p % 4


@yes_later
def sites_with_patients_of_their_own(r: Random):
    for s in "ABCDEF":
        for p in range(1, r.randint(15, 30)):
            for k in range(1, r.randint(3, 5)):
                yield f"site{s}/pt{p:02d}/img{k}.png", (s, p), r.randrange(2)


@yes_later
def cohorts_with_patients_of_their_own(r: Random):
    for s in (1, 2, 3):
        for p in range(1, r.randint(50, 90)):
            label = r.randrange(2)
            for k in range(1, r.randint(3, 4)):
                yield f"cohort{s}_{p:03d}_v{k}.png", (s, p), label


@yes_later
def tracks_of_cameras(r: Random):
    for c in (1, 2, 3):
        for t in range(1, 25):
            start, label = r.randrange(9000), r.randrange(3)
            for f in range(0, 40, 5):
                yield f"camera{c}/track_{t:04d}/frame_{start + f:06d}.jpg", (c, t), label


@yes_later
def experiment_wells_over_time(r: Random):
    y, m = 2019, 8
    for e in range(1, 6):
        for well in r.sample([f"{a}{b}" for a in "ABCDEFGH" for b in range(1, 13)], 30):
            for t in range(0, 60, 12):
                yield f"{y}_{m:02d}_{10 + e}_exp{e}_well_{well}_t{t:03d}.tif", (e, well), (ord(well[0]) + e) % 3


@yes_later
def plates_and_wells(r: Random):
    for p in range(1, 7):
        for a in "ABCDEFGH":
            for b in range(1, 13):
                for f in (1, 2):
                    yield f"plate{p}_{a}{b:02d}_{f}.png", (p, a, b), (b + p) % 4


@yes_later
def image_and_its_patches(r: Random):
    for i in pick(r, 90, 1, 400):
        for k in sorted(r.sample(range(64), r.randint(4, 12))):
            yield f"img_{i:03d}_patch_{k}.png", i, i % 3


@yes_later
def number_and_letter(r: Random):
    for i in range(1, 250):
        for a in "abc"[: r.randint(1, 3)]:
            yield f"{i}{a}.jpg", i, i % 3


@yes_later
def number_dash_letter(r: Random):
    for i in range(1, 200):
        for a in "abcd"[: r.randint(2, 4)]:
            yield f"leaf {i}-{a}.jpg", i, i % 5


@yes_later
def stereo_pairs(r: Random):
    for i in pick(r, 300, 1, 5000):
        for side in ("left", "right"):
            yield f"IMG_{i:04d}_{side}.png", i, i % 3


@yes_later
def rooms_and_rescans(r: Random):
    for s in range(60):
        for k in range(r.randint(1, 3)):
            for f in range(0, 120, 20):
                yield f"scene{s:04d}_{k:02d}/color/{f:04d}.jpg", s, s % 5


@yes_later
def sequences_with_depth(r: Random):
    for s in range(1, 15):
        for f in range(0, 400, 20):
            for k in ("color", "depth"):
                yield f"seq-{s:02d}/frame-{f:06d}.{k}.png", s, f // 100


@yes_later
def sensors_before_the_number(r: Random):
    for i in pick(r, 250, 0, 3000):
        for k in ("rgb", "depth", "thermal"):
            yield f"{k}_{i:04d}.png", i, i % 3


@yes_later
def crops_of_counters_per_class(r: Random):
    for c, n in (("mel", 70), ("nev", 110), ("bkl", 50)):
        for i in range(1, n):
            for k in range(1, r.randint(2, 5)):
                yield f"{c}_{i:04d}_crop{k}.png", (c, i), c


@yes_later
def patient_folders_per_class(r: Random):
    for c, n in (("benign", 40), ("malignant", 58)):
        for p in range(1, n):
            for k in range(1, r.randint(3, 7)):
                yield f"{c}/patient_{p}/roi_{k}.png", (c, p), c


@yes_later
def people_and_emotions(r: Random):
    for p in range(1, 13):
        for e in ("happy", "sad", "angry", "neutral"):
            for k in range(1, 5):
                yield f"P{p}_{e}_{k}.png", p, e


@yes_later
def actors_sentence_emotion(r: Random):
    for a in range(1001, 1050):
        for s in ("DFA", "IEO", "IOM", "ITH"):
            for e in r.sample(["ANG", "DIS", "FEA", "HAP", "NEU", "SAD"], 4):
                yield f"{a}_{s}_{e}_XX.png", a, e


@yes_later
def ringed_birds(r: Random):
    for n in pick(r, 90, 1000, 9999):
        for _ in range(r.randint(2, 5)):
            y, m, d = day(r)
            yield f"ring_A{n}_{y}{m:02d}{d:02d}_{r.randint(1, 2)}.jpg", n, n % 2


@yes_later
def plots_plants_leaves(r: Random):
    for p in range(1, 25):
        for q in range(1, 5):
            for k in range(1, 5):
                yield f"plot{p}_plant{q}_leaf{k}.jpg", p, (p * q) % 3


@yes_later
def video_and_frame_numbers(r: Random):
    for v in pick(r, 60, 1, 900):
        for f in sorted(r.sample(range(3000), 12)):
            yield f"{v:04d}_{f:05d}.jpg", v, v % 4


@yes_later
def shots_and_key_frames(r: Random):
    for v in range(1, 40):
        for s in range(1, r.randint(4, 9)):
            for k in (1, 2):
                yield f"vid{v}-shot{s}-kf{k}.jpg", v, s % 3


@yes_later
def video_site_ids(r: Random):
    alphabet = string.ascii_letters + string.digits + "-_"
    for _ in range(70):
        v, label = letters(r, 11, alphabet), r.randrange(4)
        for f in range(0, r.randint(60, 200), 15):
            yield f"{v}_{f:06d}.jpg", v, label


@yes_later
def nuclei_hash_folders(r: Random):
    for _ in range(80):
        h, label = hexa(r, 64), r.randrange(3)
        yield f"{h}/images/{h}.png", h, label
        for _ in range(r.randint(2, 6)):
            yield f"{h}/masks/{hexa(r, 64)}.png", h, label


@yes_later
def objects_cut_from_photos(r: Random):
    for i in pick(r, 150, 1000, 581000):
        for k in range(r.randint(2, 6)):
            yield f"train2017/{i:012d}_crop_{k}.jpg", i, r.randrange(5)


@yes_later
def exported_frames_of_videos(r: Random):
    for v in range(1, 30):
        for f in sorted(r.sample(range(900), 9)):
            for _ in range(r.choice([1, 3])):
                yield f"train/images/clip{v}_mp4-{f}_jpg.rf.{hexa(r, 32)}.jpg", v, v % 2


@yes_later
def exported_patient_images(r: Random):
    for p in pick(r, 90, 1, 500):
        for k in range(1, r.randint(2, 5)):
            for _ in range(2):
                yield f"{r.choice(['train', 'valid'])}/patient{p}_{k}_png.rf.{hexa(r, 32)}.jpg", p, p % 2


@yes_later
def index_before_the_original(r: Random):
    for i in pick(r, 130, 1, 3000):
        for k in range(5):
            yield f"{k}_img{i:04d}.png", i, i % 3


@yes_later
def augmented_patients_with_views(r: Random):
    for p in range(1, 90):
        for v in (1, 2):
            yield f"P{p:03d}_v{v}.png", p, p % 3
            for w in r.sample(["flip", "rot90", "noise", "blur"], 2):
                yield f"P{p:03d}_v{v}_{w}.png", p, p % 3


@yes_later
def bursts_of_a_phone(r: Random):
    for _ in range(120):
        y, m, d = day(r, 2019, 2)
        h, mi, s = clock(r)
        e, label = f"IMG_{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}", r.randrange(3)
        for k in range(1, r.randint(3, 7)):
            yield f"{e}_BURST{k:03d}.jpg", e, label


@yes_later
def action_camera_clips(r: Random):
    for k in pick(r, 30, 10100, 19999):
        for f in range(1, r.randint(20, 60), 4):
            yield f"GX{k:06d}_{f:04d}.png", k, k % 3


@yes_later
def days_written_backwards(r: Random):
    for _ in range(28):
        y, m, d = day(r, 2021, 1)
        n = r.randrange(9000)
        for k in range(r.randint(6, 20)):
            yield f"{d:02d}-{m:02d}-{y}/IMG_{n + k:04d}.jpg", (d, m, y), r.randrange(3)


@yes_later
def days_as_folders_of_cameras(r: Random):
    for _ in range(25):
        y, m, d = day(r, 2021, 1)
        for c in (1, 2):
            for k in range(1, r.randint(6, 15)):
                yield f"{y}{m:02d}{d:02d}/cam{c}_{k:04d}.jpg", (y, m, d), r.randrange(3)


@yes_later
def experiments_with_images(r: Random):
    for e in range(1, 21):
        for k in range(1, r.randint(6, 25)):
            yield f"Exp{e}/Image{k}.tif", e, r.randrange(3)


@yes_later
def class_words_before_patients(r: Random):
    for c, n in (("COVID-19", 45), ("Normal", 60), ("Viral Pneumonia", 50)):
        for p in range(1, n):
            for z in range(1, r.randint(3, 8)):
                yield f"{c}/{c}_patient{p}_slice{z}.png", (c, p), c


@yes_later
def users_gestures_repetitions(r: Random):
    for u in range(1, 15):
        for g in range(1, 11):
            for k in (1, 2, 3):
                yield f"user{u:02d}/gesture_{g:02d}/seq_{k}.avi", u, g


@yes_later
def codes_user_gesture_repetition(r: Random):
    for u in range(1, 21):
        for g in range(1, 9):
            for k in (1, 2):
                yield f"U{u:02d}_G{g:02d}_R{k}.png", u, g


@yes_later
def person_sex_age_index(r: Random):
    for p in pick(r, 180, 1, 3000):
        sex, age = r.choice("mf"), r.randint(18, 80)
        for k in range(1, r.randint(2, 5)):
            yield f"{p:04d}_{sex}_{age}_{k}.png", p, p % 3


@yes_later
def iris_folders(r: Random):
    for p in range(1, 90):
        for eye in "LR":
            for k in range(1, r.randint(3, 6)):
                yield f"{p:03d}/{eye}/S1{p:03d}{eye}{k:02d}.jpg", p, p % 2


@yes_later
def walking_people(r: Random):
    for p in range(1, 50):
        for c in ("nm-01", "nm-02", "bg-01", "cl-01"):
            for a in (0, 54, 90, 144):
                yield f"{p:03d}-{c}-{a:03d}.png", p, c.split("-")[0]


@yes_later
def writers_pages_lines(r: Random):
    for w in pick(r, 60, 1, 670):
        for p in range(1, r.randint(2, 4)):
            for k in range(1, r.randint(4, 9)):
                yield f"writer{w:03d}_page{p}_line{k:02d}.png", w, w % 3


@yes_later
def words_as_scenes(r: Random):
    for w in WORDS:
        for v in ("dawn", "noon", "dusk"):
            for k in range(1, 9):
                yield f"{w}-{v}-{k:02d}.jpg", w, v


@yes_later
def parts_of_batches(r: Random):
    for b in range(1, 5):
        for p in range(1, r.randint(40, 60)):
            label = r.randrange(2)
            for c in (1, 2, 3):
                yield f"batch{b}_part{p:03d}_cam{c}.png", (b, p), label


@yes_later
def patches_with_scores_behind(r: Random):
    for s in pick(r, 70, 1, 999):
        for k in range(1, r.randint(5, 14)):
            yield f"slide_{s:03d}_{k:02d}_{r.random():.2f}.png", s, r.randrange(2)


@yes_later
def two_devices_two_forms(r: Random):
    for p in range(1, 80):
        for e in ("OD", "OS"):
            yield f"deviceA/{p:04d}_{e}_1.png", ("a", p), r.randrange(2)
    for p in pick(r, 70, 100, 999):
        for k in range(1, 4):
            yield f"deviceB/ID{p}-scan-{k}.tif", ("b", p), r.randrange(2)


@yes_later
def patients_in_roman_sets(r: Random):
    for s in ("setI", "setII", "setIII"):
        for p in pick(r, 40, 1, 500):
            for k in range(1, 4):
                yield f"{s}/{p:03d}-{k}.png", (s, p), r.randrange(2)


@yes_later
def potholes_in_runs(r: Random):
    n = 100
    for k in range(140):
        n += r.randint(5, 15)
        for _ in range(r.randint(2, 5)):
            n += 1
            yield f"G{n:07d}.JPG", k, (k // 10) % 3


@yes_later
def fish_in_runs_per_folder(r: Random):
    thing = 0
    for f in ("101MEDIA", "102MEDIA", "103MEDIA"):
        n = r.randrange(400)
        for _ in range(45):
            n += r.randint(4, 9)
            for _ in range(r.randint(3, 6)):
                n += 1
                yield f"{f}/DSCF{n:04d}.JPG", thing, thing % 3
            thing += 1


@no_later
def numbered_selection(r: Random):
    for c in ("mild", "moderate", "severe"):
        for k in range(1, r.randint(150, 300)):
            yield f"{c}/img ({k}).jpg", None, c


@no_later
def downloads(r: Random):
    for c in ("ant", "bee"):
        for k in range(1, 260):
            yield f"{c}/download ({k}).jpg", None, c


@no_later
def class_and_uuid(r: Random):
    for _ in range(700):
        c = r.choice(["tumor", "stroma", "fat"])
        yield f"{c}-{uuid(r)}.png", None, c


@no_later
def video_site_ids_alone(r: Random):
    for _ in range(600):
        yield f"{letters(r, 11, string.ascii_letters + string.digits)}.jpg", None, r.randrange(3)


@no_later
def one_image_a_patient(r: Random):
    for p in range(1, 600):
        yield f"patient_{p:04d}.png", None, r.randrange(2)


@no_later
def scanner_letter_and_counter(r: Random):
    for k in range(900):
        yield f"{r.choice('ABC')}_{k:05d}.png", None, r.randrange(2)


@no_later
def grades_and_counters(r: Random):
    for g in range(5):
        for k in range(1, r.randint(90, 200)):
            yield f"grade_{g}/{k:04d}.png", None, g


@no_later
def age_sex_counter(r: Random):
    for k in range(1, 900):
        yield f"{r.randint(18, 90)}_{r.choice('FM')}_{k:04d}.png", None, r.randrange(2)


@no_later
def counter_and_label_behind(r: Random):
    for k in range(1, 900):
        c = r.randrange(6)
        yield f"{k:05d}_label{c}.png", None, c


@no_later
def latitude_longitude(r: Random):
    for _ in range(700):
        yield f"{r.uniform(45, 49):.4f}_{r.uniform(8, 13):.4f}.jpg", None, r.randrange(4)


@no_later
def picture_sizes(r: Random):
    for k in r.sample(range(10000), 800):
        w, h = r.choice([(640, 480), (800, 600), (1024, 768), (1280, 720), (1920, 1080), (512, 512)])
        yield f"{w}x{h}_{k:05d}.jpg", None, r.randrange(3)


@no_later
def two_weightings_two_counters(r: Random):
    for m, n in (("T1", 300), ("T2", 420)):
        for k in r.sample(range(1, 900), n):
            yield f"{m}/{m}_{k:04d}.png", None, m


@no_later
def validation_counter(r: Random):
    for k in pick(r, 900, 1, 50000):
        yield f"ILSVRC2012_val_{k:08d}.JPEG", None, r.randrange(100)


@no_later
def random_numbers_in_class_folders(r: Random):
    for c in ("rust", "scab", "healthy"):
        for _ in range(260):
            yield f"{c}/{r.randrange(1000000)}.jpg", None, c


@no_later
def export_days_and_counter(r: Random):
    for k in range(800):
        yield f"2021030{1 + k // 300}-{k:04d}.png", None, r.randrange(2)


@no_later
def two_hashes(r: Random):
    for _ in range(500):
        yield f"{hexa(r, 8)}_{hexa(r, 16)}.png", None, r.randrange(2)


@no_later
def train_chunks(r: Random):
    for k in range(1500):
        yield f"train_chunk_{k // 250}/{k:06d}.jpg", None, r.randrange(3)


@no_later
def quality_then_counter(r: Random):
    for k in range(800):
        yield f"q{r.randint(1, 5)}_{k:05d}.png", None, r.randrange(2)


@no_later
def class_number_index(r: Random):
    for c in range(8):
        for k in range(r.randint(80, 140)):
            yield f"class_{c}_{k}.png", None, c


@no_later
def roi_counter_in_scanner_folders(r: Random):
    for s in ("aperio", "hamamatsu", "leica"):
        for k in range(1, r.randint(150, 300)):
            yield f"{s}/roi_{k:04d}.png", None, r.randrange(3)


@no_later
def numbers_with_deleted_ones(r: Random):
    for k in range(1, 1200):
        if r.random() < 0.8:
            yield f"DSCN{k:04d}.JPG", None, r.randrange(3)


@no_later
def numbers_mostly_deleted(r: Random):
    for k in range(1, 4000):
        if r.random() < 0.25:
            yield f"IMG_{k:04d}.JPG", None, (k // 400) % 4


@no_later
def shots_of_a_walk_by_second(r: Random):
    t = 8 * 3600
    for _ in range(600):
        t += r.randint(7, 60)
        yield f"20210502_{t // 3600:02d}{t // 60 % 60:02d}{t % 60:02d}.jpg", None, r.randrange(3)
