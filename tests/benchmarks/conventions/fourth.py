"""A fourth collection for development, after the first three were measured: archives, laboratories, other languages."""

from __future__ import annotations

from random import Random

from .convention import clock, day, hexa, letters, no_later, pick, uuid, yes_later


@yes_later
def archive_study_series_folders(r: Random):
    for p in range(1, 70):
        for _ in range(r.randint(1, 2)):
            y, m, d = day(r, 2006, 5)
            study = f"{m:02d}-{d:02d}-{y}-StudyID-NA-{r.randrange(10000, 99999)}"
            for s in range(r.randint(1, 2)):
                series = f"{s}.000000-NA-{r.randrange(10000, 99999)}"
                for k in range(1, r.randint(4, 9)):
                    yield f"LUNG1-{p:03d}/{study}/{series}/1-{k:03d}.dcm", p, p % 3


@yes_later
def numbers_in_parentheses(r: Random):
    for p in range(1, 60):
        for k in range(1, r.randint(5, 15)):
            yield f"Patient ({p})/Slice ({k}).png", p, p % 2


@yes_later
def heads_with_second_and_third_picture(r: Random):
    for p in range(0, 500):
        yield f"{p:03d}_HC.png", p, p % 3
        yield f"{p:03d}_HC_Annotation.png", p, p % 3
        if r.random() < 0.3:
            yield f"{p:03d}_2HC.png", p, p % 3
            yield f"{p:03d}_2HC_Annotation.png", p, p % 3


@yes_later
def weeks_behind_the_person(r: Random):
    for p in range(1, 50):
        for w in r.sample(range(0, 25, 4), r.randint(2, 5)):
            for side in "LR":
                yield f"ID{p:02d}_week{w:02d}_{side}.jpg", p, w > 8


@yes_later
def knees_in_words(r: Random):
    for p in pick(r, 120, 1, 900):
        for side in ("left", "right"):
            for k in range(1, r.randint(2, 4)):
                yield f"Subject_{p}_{side}_knee_{k}.jpg", p, r.randrange(5)


@yes_later
def lesions_by_date(r: Random):
    for k in pick(r, 140, 1, 3000):
        for _ in range(r.randint(1, 4)):
            y, m, d = day(r)
            yield f"lesion{k}-{y}-{m:02d}-{d:02d}.jpg", k, k % 2


@yes_later
def scan_stamps_with_regions(r: Random):
    for _ in range(60):
        y, m, d = day(r, 2018, 2)
        h, mi, s = clock(r)
        stamp = f"slide-{y}-{m:02d}-{d:02d}T{h:02d}-{mi:02d}-{s:02d}-R1"
        for k in range(1, r.randint(4, 15)):
            yield f"{stamp}-S{k}.jpg", stamp, r.randrange(4)


@yes_later
def video_stamp_frames(r: Random):
    for _ in range(40):
        y, m, d = day(r, 2019, 1)
        h, mi, s = clock(r)
        stamp = f"VID_{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}"
        for f in range(0, r.randint(60, 200), 12):
            yield f"{stamp}_frame_{f:04d}.jpg", stamp, r.randrange(2)


@yes_later
def fingers_and_impressions(r: Random):
    for f in range(1, 101):
        for k in range(1, 9):
            yield f"{f}_{k}.tif", f, f % 3


@yes_later
def samples_in_numbered_classes(r: Random):
    for c in range(1, 9):
        for s in range(1, r.randint(10, 25)):
            for v in range(1, 4):
                yield f"class{c:02d}/sample_{s:03d}/view_{v}.png", (c, s), c


@yes_later
def fruit_and_sides(r: Random):
    for c in ("apple", "pear", "kiwi"):
        for k in range(1, r.randint(40, 60)):
            for s in range(1, 4):
                yield f"{c}_{k:02d}_side{s}.png", (c, k), c


@yes_later
def array_cores_and_positions(r: Random):
    for a in range(1, 5):
        for row in "ABCDEF":
            for col in range(1, 11):
                for _ in range(3):
                    name = f"array{a}/core-{row}-{col:02d}_x{r.randrange(9) * 256}_y{r.randrange(9) * 256}.png"
                    yield name, (a, row, col), (ord(row) + col + a) % 3


@yes_later
def one_plate_in_words(r: Random):
    for a in "ABCDEFGH":
        for b in range(1, 13):
            for f in range(1, 5):
                for c in (1, 2):
                    yield f"Well_{a}{b:02d}_Field_{f}_Ch{c}.tif", (a, b), (b + ord(a)) % 4


@yes_later
def reader_codes_joined(r: Random):
    for plate in ("170702000001", "170705000002", "170711000001"):
        for well in r.sample([f"{a}{b:02d}" for a in "ABCDEFGH" for b in range(1, 13)], 40):
            for f in range(3):
                for c in range(2):
                    yield f"MFGTMPcx7_{plate}_{well}f{f:02d}d{c}.TIF", (plate, well), (ord(well[0]) + int(well[1:])) % 3


@yes_later
def magnification_slide_region_tile(r: Random):
    for s in range(1, 40):
        for g in range(1, r.randint(2, 5)):
            for t in range(1, r.randint(3, 7)):
                yield f"20x_slide{s}_ROI{g}_tile{t}.png", s, r.randrange(2)


@yes_later
def stain_slide_corner(r: Random):
    for s in pick(r, 50, 1, 300):
        for _ in range(r.randint(6, 20)):
            yield f"HE_{s}_{r.randrange(60) * 512}_{r.randrange(60) * 512}.png", s, r.randrange(3)


@yes_later
def findings_with_counters(r: Random):
    for c, n in (("neg", 150), ("pos", 90)):
        for p in range(1, n):
            for k in range(1, r.choice([2, 3, 3, 4])):
                yield f"{c}_{p:03d}_{k}.png", (c, p), c


@yes_later
def image_and_its_cells(r: Random):
    for i in range(1, 110):
        for c in range(1, r.randint(3, 14)):
            yield f"image{i}_cell{c}.png", i, r.choice("abcd")


@yes_later
def sites_cameras_sequences(r: Random):
    for site in range(1, 6):
        for cam in (1, 2):
            for s in range(1, r.randint(15, 30)):
                label = r.randrange(3)
                for k in range(1, 4):
                    yield f"Site{site:02d}_Cam{cam:02d}_Seq{s:04d}_{k:04d}.jpg", (site, cam, s), label


@yes_later
def nests_over_days(r: Random):
    for n in range(1, 45):
        for d in range(1, r.randint(4, 9)):
            yield f"nest{n:02d}_201905{d + 3:02d}_day{d}.jpg", n, d > 3


@yes_later
def cows_and_dates(r: Random):
    for c in pick(r, 60, 100, 2000):
        for _ in range(r.randint(2, 5)):
            y, m, d = day(r, 2020, 1)
            for k in (1, 2):
                yield f"cow-{c:04d}/cow-{c:04d}-{y}{m:02d}{d:02d}-{k:02d}.jpg", c, r.randrange(2)


@yes_later
def plants_days_angles(r: Random):
    for p in range(1, 31):
        for d in (3, 6, 9, 12):
            for a in (0, 90, 180):
                yield f"tomato_plant{p:02d}_day{d:02d}_side{a:03d}.png", p, p % 3


@yes_later
def photos_cut_into_tiles(r: Random):
    for k in pick(r, 120, 1, 9999):
        for i in range(3):
            for j in range(2):
                yield f"DJI_{k:04d}_{i}_{j}.jpg", k, r.randrange(2)


@yes_later
def stamped_photos_cut_into_tiles(r: Random):
    for _ in range(90):
        y, m, d = day(r, 2021, 1)
        h, mi, s = clock(r)
        stamp = f"IMG_{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}"
        for t in range(r.randint(4, 9)):
            yield f"{stamp}_tile_{t}.jpg", stamp, r.randrange(3)


@yes_later
def extension_inside_augmented_names(r: Random):
    for k in pick(r, 110, 1, 2000):
        yield f"img{k}.jpg", k, k % 2
        for a in range(1, 5):
            yield f"img{k}.jpg_aug_{a}.jpg", k, k % 2


@yes_later
def augmentations_in_sentences(r: Random):
    for k in range(1, 120):
        yield f"cell{k}.png", k, k % 3
        yield f"cell{k}_flipped_horizontally.png", k, k % 3
        yield f"cell{k}_rotated_by_{r.choice([15, 30, 45])}_degrees.png", k, k % 3


@yes_later
def copies_of_a_desktop(r: Random):
    for k in pick(r, 300, 1, 9999):
        yield f"IMG_{k:04d}.png", k, k % 3
        if r.random() < 0.5:
            yield f"IMG_{k:04d} (copy).png", k, k % 3
        if r.random() < 0.2:
            yield f"IMG_{k:04d} (another copy).png", k, k % 3
        if r.random() < 0.2:
            yield f"IMG_{k:04d} copy 2.png", k, k % 3


@yes_later
def upload_folders_of_uuids(r: Random):
    for _ in range(80):
        u, label = uuid(r), r.randrange(3)
        for k in range(r.randint(2, 8)):
            yield f"sessions/{u}/frame{k}.png", u, label


@yes_later
def short_random_codes_and_sides(r: Random):
    codes = sorted({"".join(r.choice("abcdefghjkmnpqrstuvwxyz23456789") for _ in range(6)) for _ in range(200)})
    for c in codes:
        label = r.randrange(2)
        for side in ("left", "right"):
            yield f"{c}_{side}.png", c, label


@yes_later
def four_hex_digits_and_frames(r: Random):
    codes = sorted({hexa(r, 4) for _ in range(70)})
    for c in codes:
        label = r.randrange(3)
        for f in range(r.randint(4, 12)):
            yield f"{c}_{f:02d}.png", c, label


@yes_later
def family_names_with_umlauts(r: Random):
    heads = ("Mü", "Bä", "Schö", "Krü", "Lö", "Fü", "Hä", "Wei", "Stei", "Bau", "Hof", "Vo")
    tails = ("ller", "cker", "ning", "mann", "ss", "gel", "ser", "bach")
    for n in sorted({r.choice(heads) + r.choice(tails) for _ in range(120)}):
        for k in range(1, r.randint(3, 6)):
            yield f"{n}_{k:02d}.jpg", n, r.randrange(2)


@yes_later
def spanish_patients(r: Random):
    for p in range(1, 60):
        for c in range(1, r.randint(4, 10)):
            yield f"paciente_{p:03d}_corte_{c}.png", p, p % 2


@yes_later
def german_patients_in_folders(r: Random):
    for c in ("gesund", "krank"):
        for p in range(1, 40):
            for k in range(1, r.randint(3, 6)):
                yield f"{c}/Proband{p:02d}/Aufnahme{k}.jpg", (c, p), c


@yes_later
def tracks_objects_frames(r: Random):
    for t in range(1, 16):
        for o in r.sample(range(1, 90), r.randint(3, 7)):
            for f in r.sample(range(300), 4):
                yield f"trk-{t:04d}_obj-{o:04d}_f-{f:03d}.png", t, o % 3


@yes_later
def eyes_with_year(r: Random):
    for p in pick(r, 200, 1, 9999):
        for e in ("OD", "OS"):
            for y in r.sample([2017, 2018, 2019], r.randint(1, 2)):
                yield f"{p:04d}-{e}-{y}.jpg", p, r.randrange(3)


@yes_later
def rooms_in_buildings(r: Random):
    for b in ("A", "B", "C"):
        for room in r.sample(range(100, 400), 25):
            for k in range(1, r.randint(3, 7)):
                yield f"building{b}/room{room}/{k:02d}.jpg", (b, room), r.randrange(3)


@yes_later
def test_prints_of_machines(r: Random):
    for m in ("ext1", "ext2"):
        for job in r.sample(range(1000, 9999), 30):
            for layer in range(5, 60, 12):
                yield f"{m}_job{job}_layer{layer:03d}.png", job, r.randrange(2)


@yes_later
def bottles_on_a_belt_with_cameras(r: Random):
    for k in range(1, 250):
        for c in ("top", "side"):
            yield f"{c}/bottle_{k:05d}.bmp", k, k % 7 == 0


@yes_later
def mixed_cases_and_loose_photos(r: Random):
    for p in range(1, 90):
        for k in range(1, 5):
            yield f"case_{p:03d}_{k}.jpg", ("c", p), r.randrange(2)
    for k in pick(r, 120, 1, 9999):
        yield f"IMG_{k:04d}.jpg", ("i", k), r.randrange(2)


@no_later
def tiles_of_one_mosaic(r: Random):
    for x in range(30):
        for y in range(30):
            yield f"x{x:04d}y{y:04d}.png", None, (x // 10 + y // 10) % 3


@no_later
def generated_by_seed(r: Random):
    for s in r.sample(range(100000), 800):
        yield f"seed{s:05d}.png", None, r.randrange(2)


@no_later
def six_digits(r: Random):
    for k in range(900):
        yield f"training/image_2/{k:06d}.png", None, r.randrange(3)


@no_later
def grade_dash_counter(r: Random):
    for k in r.sample(range(5000), 900):
        yield f"{r.randrange(5)}-{k:04d}.jpg", None, r.randrange(5)


@no_later
def class_and_index_without_separator(r: Random):
    for c, n in (("Tumor", 300), ("Normal", 400)):
        for k in range(1, n):
            yield f"{c}/{c}{k}.jpg", None, c


@no_later
def messages_by_second(r: Random):
    for _ in range(500):
        y, m, d = day(r, 2018, 4)
        h, mi, s = clock(r)
        yield f"WhatsApp Image {y}-{m:02d}-{d:02d} at {h:02d}.{mi:02d}.{s:02d}.jpeg", None, r.randrange(2)


@no_later
def every_photo_edited(r: Random):
    for k in pick(r, 700, 1, 9999):
        yield f"DSC{k:05d}_edit.jpg", None, r.randrange(3)


@no_later
def scores_in_names(r: Random):
    for k in range(800):
        yield f"id_{k:05d}_value_{r.random():.3f}.jpg", None, r.randrange(2)


@no_later
def hospital_and_one_counter(r: Random):
    for k in range(1, 900):
        yield f"hospital{r.randint(1, 6)}_scan_{k:05d}.png", None, r.randrange(2)


@no_later
def seasons_and_counter(r: Random):
    for s in ("spring", "summer", "autumn", "winter"):
        for k in range(1, r.randint(150, 260)):
            yield f"{s}_{k:04d}.jpg", None, r.randrange(3)


@no_later
def letters_of_a_chunk(r: Random):
    for k in range(1, 900):
        yield f"img_{'abcde'[k // 200]}_{k:05d}.jpg", None, r.randrange(3)


@no_later
def random_words_and_digits(r: Random):
    for _ in range(700):
        yield f"{letters(r, r.randint(3, 8))}{r.randrange(100)}.png", None, r.randrange(3)
