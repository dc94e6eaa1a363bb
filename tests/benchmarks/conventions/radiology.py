"""Radiology and ultrasound."""

from __future__ import annotations

from random import Random

from .convention import hexa, no, no_given_labels, pick, uid, uuid, yes, yes_given_labels


@yes
def chexpert(r: Random):
    for p in pick(r, 300, 1, 64000):
        for s in range(1, r.randint(2, 4)):
            label = r.randrange(3)
            yield f"{r.choice(['train', 'train', 'valid'])}/patient{p:05d}/study{s}/view1_frontal.jpg", p, label
            if r.random() < 0.4:
                yield f"train/patient{p:05d}/study{s}/view2_lateral.jpg", p, label


@yes
def mimic_folders(r: Random):
    for p in pick(r, 250, 10000032, 10999999):
        for _ in range(r.randint(1, 4)):
            s, label = r.randrange(50000000, 59999999), r.randrange(4)
            for _ in range(r.randint(1, 3)):
                h = "-".join(hexa(r, 8) for _ in range(5))
                yield f"files/p{str(p)[:2]}/p{p}/s{s}/{h}.jpg", p, label


@yes
def mammography_hash_folders(r: Random):
    for _ in range(200):
        study = hexa(r, 32)
        label = r.randrange(3)
        for _ in range(4):
            yield f"images/{study}/{hexa(r, 32)}.png", study, label


@yes
def mass_and_calc_training(r: Random):
    for p in pick(r, 300, 1, 2000):
        kinds = r.choice([["Mass"], ["Calc"], ["Mass", "Calc"]])
        part = r.choice(["Training", "Training", "Test"])
        for kind in kinds:
            for side in r.choice([["LEFT"], ["RIGHT"], ["LEFT", "RIGHT"]]):
                for view in r.choice([["CC"], ["CC", "MLO"], ["CC", "MLO"]]):
                    for k in range(1, r.choice([2, 2, 3])):
                        yield f"{kind}-{part}_P_{p:05d}_{side}_{view}_{k}.png", p, r.randrange(2)


@yes
def mammogram_id_then_patient_hash(r: Random):
    n = 20586908
    for _ in range(110):
        patient, label = hexa(r, 16), r.randrange(3)
        for side in "LR":
            for view in ("CC", "ML"):
                n += r.randint(1, 40)
                yield f"{n}_{patient}_MG_{side}_{view}_ANON.dcm", patient, label


@yes
def ddsm_cases(r: Random):
    for p in pick(r, 250, 1, 4200):
        for side in ("LEFT", "RIGHT"):
            for view in ("CC", "MLO"):
                yield f"{'ABCD'[p % 4]}_{p:04d}_1.{side}_{view}.png", p, (p // 7) % 3


@yes
def lung_slices(r: Random):
    for p in pick(r, 60, 1, 1012):
        for z in range(*sorted(r.sample(range(250), 2))[:2], 5):
            yield f"LIDC-IDRI-{p:04d}/slice_{z:03d}.png", p, r.randrange(2)


@yes
def series_uid_and_slice(r: Random):
    for _ in range(80):
        u = uid(r, "1.3.6.1.4.1.14519.5.2.1.6279.6001")
        for z in sorted(r.sample(range(300), r.randint(4, 15))):
            yield f"{u}_z{z}.png", u, r.randrange(2)


@yes
def brain_tumour_modalities(r: Random):
    for p in pick(r, 120, 0, 1670):
        for t in range(r.choice([1, 1, 2])):
            for m in ("t1n", "t1c", "t2w", "t2f"):
                yield f"BraTS-GLI-{p:05d}-{t:03d}-{m}.nii.gz", p, p % 2


@yes
def dementia_site_s_subject(r: Random):
    for site in pick(r, 40, 2, 142):
        for s in pick(r, 6, 1, 7000):
            for _ in range(r.randint(1, 5)):
                y = r.randint(2005, 2012)
                stamp = f"{y}{r.randint(1, 12):02d}{r.randint(1, 28):02d}{r.randrange(10**9):09d}"
                scan, image = r.randrange(10000, 99999), r.randrange(10000, 299999)
                yield f"ADNI_{site:03d}_S_{s:04d}_MR_MP-RAGE__br_raw_{stamp}_1_S{scan}_I{image}.nii", (site, s), s % 3


@yes
def dementia_class_folder_slices(r: Random):
    stage = ["Non Demented", "Very mild Dementia", "Mild Dementia"]
    for p in pick(r, 90, 1, 457):
        c = r.choice(stage)
        for q in range(1, r.randint(2, 4)):
            for z in range(100, 160, 6):
                yield f"{c}/OAS1_{p:04d}_MR1_mpr-{q}_{z}.jpg", p, c


@yes
def brain_site_and_modalities(r: Random):
    for p in pick(r, 300, 2, 662):
        site = r.choice(["Guys", "HH", "IOP"])
        n = r.randrange(700, 2700)
        for m in ("T1", "T2", "PD", "MRA"):
            yield f"IXI{p:03d}-{site}-{n:04d}-{m}.nii.gz", p, p % 2


@yes
def two_ct_sources_mixed(r: Random):
    for p in range(1, 11):
        for z in range(0, 200, 4):
            yield f"coronacases_{p:03d}_slice_{z:03d}.png", ("c", p), r.randrange(2)
    for p in pick(r, 12, 4, 40):
        study = r.randrange(80000, 90000)
        for z in range(0, 120, 3):
            yield f"radiopaedia_{p}_{study}_{r.choice([0, 0])}_slice{z:03d}.png", ("r", p), r.randrange(2)


@yes
def planes_in_folders(r: Random):
    for k in range(300):
        for plane in ("axial", "coronal", "sagittal"):
            yield f"{plane}/{k:04d}.npy", k, (k * 7) % 3 % 2


@yes
def image_and_mask_pairs(r: Random):
    for c, n in (("benign", 300), ("malignant", 200), ("normal", 130)):
        for k in range(1, n + 1):
            yield f"{c}/{c} ({k}).png", (c, k), c
            yield f"{c}/{c} ({k})_mask.png", (c, k), c


@yes
def lung_ultrasound_frames(r: Random):
    for c, n in (("Cov", 30), ("Pneu", 20), ("Reg", 40)):
        for k in range(1, n + 1):
            for f in range(0, r.randint(30, 120), 10):
                yield f"{c}_convex_clip{k:02d}_frame{f:03d}.png", (c, k), c


@yes
def breast_screening_folder(r: Random):
    for p in pick(r, 250, 1, 65000):
        label = int(r.random() < 0.2)
        for _ in range(r.randint(4, 6)):
            yield f"train_images/{p}/{r.randrange(10**5, 2 * 10**9)}.png", p, label


@yes
def knees_left_right(r: Random):
    for p in pick(r, 500, 9000000, 9999999):
        for side in "LR":
            if r.random() < 0.95:
                g = r.randrange(5)
                yield f"{r.choice(['train', 'test'])}/{g}/{p}{side}.png", p, g


@yes
def fetal_planes(r: Random):
    for p in pick(r, 250, 1, 1792):
        for plane in r.sample(range(1, 7), r.randint(1, 4)):
            m = r.randint(1, 4)
            for k in range(1, m + 1):
                yield f"Patient{p:05d}_Plane{plane}_{k}_of_{m}.png", p, plane


@yes
def cardiac_views(r: Random):
    for p in range(1, 201):
        for v in ("2CH", "4CH"):
            for t in ("ED", "ES"):
                yield f"patient{p:04d}_{v}_{t}.png", p, p % 3


@yes
def thyroid_two_numbers(r: Random):
    for p in range(1, 300):
        for k in range(1, r.choice([2, 2, 3, 4])):
            yield f"{p}_{k}.jpg", p, (p * 13) % 5


@yes
def ct_class_patient_scan_slice(r: Random):
    scan = 100
    for c, n in (("CP", 60), ("NCP", 80), ("Normal", 50)):
        for p in range(1, n + 1):
            for _ in range(r.choice([1, 1, 2])):
                scan += 1
                for z in range(r.randint(5, 30)):
                    yield f"{c}_{p}_{scan}_{z:04d}.png", (c, p), c


@yes
def low_dose_ct_dotted(r: Random):
    for p in pick(r, 24, 4, 600):
        h = r.randint(10, 20)
        for z in range(1, 40):
            tail = f"2015.12.22.{h}.{r.randrange(60):02d}.{r.randrange(60):02d}.{r.randrange(10**6):06d}"
            yield f"L{p:03d}_FD_1_1.CT.0001.{z:04d}.{tail}.{r.randrange(10**9)}.IMA", p, r.randrange(2)


@yes
def study_series_instance_uids(r: Random):
    for _ in range(90):
        study = uid(r)
        label = r.randrange(2)
        for _ in range(r.randint(1, 3)):
            series = uid(r)
            for _ in range(r.randint(2, 6)):
                yield f"{study}/{series}/{uid(r)}.dcm", study, label


@yes
def dicomdir_without_extension(r: Random):
    for p in range(1, 60):
        for s in range(r.randint(1, 3)):
            for q in range(1, 3):
                for i in range(1, r.randint(3, 8)):
                    yield f"PAT{p:03d}/ST{s:03d}/SE{q:03d}/IM{i:05d}", p, p % 2


@yes
def record_number_and_uid(r: Random):
    for p in pick(r, 160, 1000000, 9999999):
        label = r.randrange(3)
        for _ in range(r.randint(1, 6)):
            yield f"{p}_{uid(r, '1.2.840.113619.2.55.3.604688119.971')}.png", p, label


@yes
def two_hospitals_two_conventions(r: Random):
    for p in pick(r, 120, 1, 3000):
        for side in "LR":
            for v in ("CC", "MLO"):
                yield f"A-{p:04d}_{v}_{side}.png", ("a", p), r.randrange(2)
    for p in range(1, 100):
        for k in range(1, r.randint(3, 6)):
            yield f"site2/pt{p:04d}/img{k}.png", ("b", p), r.randrange(2)


@yes
def prostate_sequences(r: Random):
    for p in pick(r, 120, 0, 346):
        for m in ("t2w", "adc", "dwi"):
            for z in range(5, 5 + r.randint(2, 8)):
                yield f"ProstateX-{p:04d}_{m}_sl{z:02d}.png", p, r.randrange(2)


@yes
def teeth_of_patients(r: Random):
    for p in pick(r, 150, 1, 900):
        for t in r.sample([11, 12, 21, 22, 31, 36, 46, 47, 16, 26], r.randint(2, 7)):
            yield f"pat{p:03d}_tooth{t}.png", p, r.choice("abc")


@yes_given_labels
def counter_restarts_per_label_only(r: Random):
    for c, n in (("x", 120), ("y", 150), ("z", 90)):
        for p in range(1, n):
            for v in range(1, r.randint(2, 5)):
                yield f"person{p}_view{v}.png", (c, p), c


@no
def chest_md5(r: Random):
    for _ in range(900):
        yield f"{hexa(r, 32)}.png", None, r.randrange(3)


@no
def chest_uuid(r: Random):
    for _ in range(900):
        yield f"{uuid(r)}.dcm", None, r.randrange(3)


@no
def instance_uids_only(r: Random):
    for _ in range(900):
        yield f"{uid(r, '1.2.276.0.7230010.3.1.4.8323329')}.dcm", None, r.randrange(2)


@no
def haemorrhage_short_ids(r: Random):
    for _ in range(1000):
        yield f"ID_{hexa(r, 9)}.dcm", None, r.randrange(2)


@no
def tumour_class_abbreviation_counter(r: Random):
    for c, m in (("gl", 300), ("me", 280), ("no", 350), ("pi", 290)):
        for k in range(10, m):
            yield f"Tr-{c}_{k:04d}.jpg", None, c


@no
def class_in_parentheses(r: Random):
    for c in ("Covid", "Non-Covid"):
        for k in range(1, 500):
            yield f"{c}/{c} ({k}).png", None, c


@no
def journal_figures(r: Random):
    for k in range(200):
        yield f"1-s2.0-S{r.randrange(10**15):016d}-fx{r.randint(1, 3)}_lrg-{'abc'[k % 3]}.jpg", None, k % 2
        yield f"nejmoa{r.randrange(10**6, 10**7)}_f{r.randint(1, 4)}-PA.jpeg", None, k % 2


@no
def one_slide_per_patient(r: Random):
    for p in pick(r, 500, 1, 9999):
        yield f"case-{p:04d}.nii.gz", None, r.randrange(2)


@no_given_labels
def folder_is_the_class_random_numbers(r: Random):
    for c in range(12):
        for k in pick(r, 60, 1, 100000):
            yield f"finding_{c:02d}/{k}.png", None, c
