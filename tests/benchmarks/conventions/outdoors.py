"""Plants, animals, remote sensing, industry."""

from __future__ import annotations

from random import Random

from .convention import clock, day, hexa, no, pick, uuid, yes, yes_given_labels


@yes
def leaves_in_runs_of_shots(r: Random):
    n, leaf = 1200, 0
    while leaf < 160:
        n += r.randint(4, 12)
        label = (leaf // 20) % 4
        for _ in range(r.randint(3, 6)):
            n += 1
            yield f"IMG_{n:04d}.JPG", leaf, label
        leaf += 1


@yes
def leaves_in_runs_uuid_before(r: Random):
    leaf = 0
    for series in ("RS_HL", "GH_HL Leaf", "JR_B.Spot", "FREC_Scab"):
        n = r.randrange(1000, 3000)
        for _ in range(50):
            n += r.randint(3, 9)
            for _ in range(r.randint(2, 5)):
                n += 1
                yield f"{uuid(r)}___{series} {n}.JPG", leaf, series
            leaf += 1


@yes
def flights_with_camera_counter(r: Random):
    for f in range(1, 25):
        n = r.randrange(1, 600)
        for k in range(r.randint(20, 60)):
            yield f"flight_{f:02d}/DJI_{n + k:04d}.JPG", f, r.randrange(4)


@yes
def flights_by_day_and_site(r: Random):
    for _ in range(22):
        y, m, d = day(r, 2021, 2)
        f = f"{y}-{m:02d}-{d:02d}_{r.choice(['north', 'south', 'creek'])}"
        for k in range(r.randint(10, 30)):
            yield f"{f}/DJI_{k + 1:04d}.JPG", f, r.randrange(3)


@yes
def plots_over_time(r: Random):
    days = sorted({day(r, 2021, 1) for _ in range(9)})
    for y, m, d in days:
        for p in range(1, 73):
            yield f"{y}-{m:02d}-{d:02d}_plot{p:03d}_rgb.tif", p, p % 4


@yes
def aerial_scenes_tiled(r: Random):
    for s in pick(r, 80, 0, 2806):
        for _ in range(r.randint(3, 12)):
            yield f"P{s:04d}__1__{r.randrange(20) * 512}___{r.randrange(20) * 512}.png", s, r.choice("abc")


@yes
def places_per_class(r: Random):
    for c in ("airport", "dam", "stadium", "zoo", "port"):
        for k in range(r.randint(20, 60)):
            for t in range(r.randint(1, 6)):
                for b in ("rgb", "msrgb"):
                    yield f"{c}/{c}_{k}/{c}_{k}_{t}_{b}.jpg", (c, k), c


@yes
def satellite_scenes_patches_bands(r: Random):
    for _ in range(30):
        y, m, d = day(r, 2017, 2)
        h, mi, s = clock(r)
        scene = f"S2{r.choice('AB')}_MSIL2A_{y}{m:02d}{d:02d}T{h:02d}{mi:02d}{s:02d}"
        for _ in range(r.randint(4, 10)):
            i, j = r.randrange(90), r.randrange(90)
            for b in ("B02", "B03", "B04"):
                yield f"{scene}_{i}_{j}_{b}.tif", scene, (i + j) % 5


@yes
def map_sheets(r: Random):
    sheets = set()
    while len(sheets) < 40:
        head = f"{r.choice('MN')}-{r.randint(33, 34)}-{r.randint(1, 144)}"
        sheets.add(f"{head}-{r.choice('ABCD')}-{r.choice('abcd')}-{r.randint(1, 4)}-{r.randint(1, 4)}")
    for s in sorted(sheets):
        for k in range(r.randint(10, 30)):
            yield f"{s}_{k}.jpg", s, r.randrange(4)


@yes
def cities_and_numbers(r: Random):
    for c in ("austin", "chicago", "kitsap", "vienna"):
        for k in range(1, 30):
            for i in range(4):
                for j in range(4):
                    yield f"{c}{k}_{i}_{j}.png", (c, k), (i * j) % 3


@yes
def concrete_photo_and_crop(r: Random):
    for p in pick(r, 60, 7001, 7230):
        for k in r.sample(range(1, 253), r.randint(10, 30)):
            yield f"{r.choice(['CD', 'UD'])}/{p}-{k}.jpg", p, "CU"[k % 2] + "D"


@yes
def boards_and_defects(r: Random):
    for b in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12):
        for c in ("missing_hole", "mouse_bite", "open_circuit", "short", "spur"):
            for k in range(1, r.randint(8, 14)):
                yield f"{c}/{b:02d}_{c}_{k:02d}.jpg", b, c


@yes
def texture_samples(r: Random):
    for c in ("cork", "wool", "linen", "corduroy", "lettuce_leaf", "cotton"):
        for s in "abcd":
            for q in range(1, 10):
                for k in range(1, 5):
                    n = r.randint(14, 60)
                    yield f"{c}/sample_{s}/{n}{s}-scale_{q}_im_{k}_col.png", (c, s), c


@yes
def traps_bursts(r: Random):
    for _ in range(200):
        site = r.randint(1, 12)
        y, m, d = day(r, 2019, 2)
        h, mi, s = clock(r)
        e = f"LOC{site:02d}_{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}"
        label = r.choice(["deer", "fox", "empty"])
        for k in range(1, 4):
            yield f"{e}_{k}.jpg", e, label


@yes
def orchard_trees(r: Random):
    for row in range(1, 9):
        for t in range(1, 16):
            for side in ("E", "W"):
                for k in range(1, 3):
                    yield f"row{row}_tree{t:02d}_{side}_{k}.jpg", (row, t), (row * t) % 3


@yes
def fish_individuals(r: Random):
    for f in pick(r, 60, 1, 400):
        for _ in range(r.randint(2, 5)):
            y, m, d = day(r)
            yield f"fish-{f:03d} {d:02d}.{m:02d}.{y}.jpg", f, r.choice(["healthy", "sick"])


@yes
def parts_multi_camera(r: Random):
    for p in r.sample(range(100000, 999999), 150):
        for cam in range(1, 5):
            yield f"cam{cam}/SN{p}_cam{cam}.bmp", p, p % 2


@yes_given_labels
def defects_batches_per_class(r: Random):
    for c in ("ok", "scratch", "dent"):
        for b in range(1, 40):
            for k in range(1, r.randint(3, 7)):
                yield f"part_{b:03d}_{k}.png", (c, b), c


@no
def runs_hidden_in_full_count(r: Random):
    for k in range(1, 901):
        yield f"DSC_{k:04d}.JPG", None, (k // 6 * 7) % 4


@no
def land_use_class_index(r: Random):
    for c in ("AnnualCrop", "Forest", "HerbaceousVegetation", "SeaLake"):
        for k in range(1, 250):
            yield f"{c}/{c}_{k}.jpg", None, c


@no
def aerial_class_two_digits(r: Random):
    for c in ("agricultural", "airplane", "beach", "chaparral", "harbor"):
        for k in range(100):
            yield f"{c}{k:02d}.tif", None, c


@no
def birds_two_numbers(r: Random):
    n = 0
    for c in ("Black_Footed_Albatross", "Laysan_Albatross", "Crested_Auklet", "Indigo_Bunting", "Painted_Bunting"):
        for k in r.sample(range(1, 160), 60):
            n += r.randint(1, 40)
            yield f"{c}/{c}_{k:04d}_{n}.jpg", None, c


@no
def cassava_random_numbers(r: Random):
    for k in r.sample(range(1000000, 4300000000), 900):
        yield f"{k}.jpg", None, r.randrange(5)


@no
def web_synsets(r: Random):
    for c in ("n01440764", "n02102040", "n03417042", "n03888257"):
        for k in pick(r, 220, 1, 20000):
            yield f"{c}/{c}_{k}.JPEG", None, c


@no
def photo_sharing_ids(r: Random):
    for _ in range(800):
        yield f"{r.randrange(10**9, 10**11)}_{hexa(r, 10)}_b.jpg", None, r.randrange(4)


@no
def defects_counters_per_folder(r: Random):
    for part in ("train/good", "test/good", "test/broken_large", "test/contamination"):
        for k in range(r.randint(60, 210)):
            yield f"{part}/{k:03d}.png", None, part.split("/")[1]


@no
def steel_class_counter(r: Random):
    for c in ("crazing", "inclusion", "patches", "scratches"):
        for k in range(1, 301):
            yield f"{c}_{k}.jpg", None, c


@no
def year_and_counter(r: Random):
    for y in (2017, 2018, 2019, 2020):
        for k in range(1, 220):
            yield f"{y}_{k:05d}.png", None, r.randrange(3)


@no
def cameras_share_a_counter(r: Random):
    for k in range(1, 1000):
        yield f"cam{r.randint(1, 4)}_{k:05d}.png", None, r.randrange(3)


@no
def a_random_subset_of_a_count(r: Random):
    for k in pick(r, 700, 1, 1000):
        yield f"P{k:07d}.JPG", None, r.randrange(4)
