"""Pathology, cells, plates."""

from __future__ import annotations

from random import Random

from .convention import clock, day, hexa, letters, no, no_given_labels, pick, uuid, yes


@yes
def slide_patches_word_and_number(r: Random):
    for c, n in (("normal", 40), ("tumor", 35)):
        for s in range(1, n + 1):
            for _ in range(r.randint(5, 20)):
                x, y = r.randrange(400) * 224, r.randrange(400) * 224
                label = "normal" if c == "normal" else r.choice(["normal", "tumor"])
                yield f"{c}_{s:03d}_x{x}_y{y}.png", (c, s), label


@yes
def slide_md5_tile(r: Random):
    for _ in range(90):
        s, label = hexa(r, 32), r.randrange(6)
        for k in range(r.randint(6, 16)):
            yield f"{s}_{k}.png", s, label


@yes
def breast_patches_class_in_name(r: Random):
    for p in pick(r, 70, 8863, 16896):
        for _ in range(r.randint(8, 30)):
            c = r.randrange(2)
            x, y = r.randrange(60) * 50 + 1, r.randrange(60) * 50 + 1
            yield f"{p}/{c}/{p}_idx5_x{x}_y{y}_class{c}.png", p, c


@yes
def colorectal_tile_number_first(r: Random):
    for c in ("01_TUMOR", "02_STROMA", "04_LYMPHO", "08_EMPTY"):
        for _ in range(300):
            s, k = r.randint(1, 10), r.randint(1, 20)
            row, col = r.randrange(30) * 150 + 1, r.randrange(30) * 150 + 1
            first = hexa(r, 4).upper()
            name = f"{c}/{first}_CRC-Prim-HE-{s:02d}_{k:03d}.tif_Row_{row}_Col_{col}.tif"
            yield name, (s if s < 0 else f"{s}"), c


@yes
def cancer_atlas_tiles(r: Random):
    for _ in range(60):
        p = f"TCGA-{letters(r, 2)}-{letters(r, 1)}{r.randrange(10)}{letters(r, 1)}{r.randrange(10)}"
        for k in range(1, r.choice([2, 2, 3])):
            u = uuid(r).upper()
            for _ in range(r.randint(3, 14)):
                yield f"{p}-01A-0{k}-TS{k}.{u}_tile_{r.randrange(80)}_{r.randrange(80)}.png", p, len(p) % 2 + k % 2


@yes
def prostate_block_regions(r: Random):
    for _ in range(60):
        s = f"{r.randint(14, 18)}B{r.randrange(10**6):07d}"
        for region in range(r.randint(1, 3)):
            for _ in range(r.randint(2, 9)):
                i, j = r.randrange(12), r.randrange(12)
                tail = f"{i}_{j}_xini_{7000 + 512 * i}_yini_{59000 + 512 * j}"
                yield f"{s}_Block_Region_{region}_{tail}.jpg", s, r.choice(["NC", "G3", "G4", "G5"])


@yes
def tissue_cores(r: Random):
    for p in pick(r, 90, 1, 400):
        for core in range(1, r.randint(2, 5)):
            for k in range(r.randint(2, 6)):
                yield f"TMA_case{p:03d}_core{core}_patch_{k}.jpg", p, r.randrange(3)


@yes
def protein_channels_uuid(r: Random):
    for _ in range(200):
        u, label = uuid(r), r.randrange(5)
        for c in ("red", "green", "blue", "yellow"):
            yield f"{u}_{c}.png", u, label


@yes
def screening_week_plate_well(r: Random):
    for week in range(1, 6):
        for plate in range(3):
            for well in r.sample([f"{a}{b:02d}" for a in "BCDEFG" for b in range(2, 12)], 25):
                for s in range(1, 5):
                    name = f"Week{week}_{24100 + 40 * week + plate}/{well}_s{s}_w1{uuid(r).upper()}.tif"
                    yield name, (week, plate, well), hash(well) % 1 + (ord(well[0]) + int(well[1:])) % 7


@yes
def imaging_system_rows_columns(r: Random):
    for row in range(2, 12):
        for col in range(2, 14):
            for f in range(1, 4):
                for ch in range(1, 4):
                    name = f"r{row:02d}c{col:02d}f{f:02d}p01-ch{ch}sk1fk1fl1.tiff"
                    yield name, (row, col), (row * 5 + col * 3) % 6


@yes
def cell_lines_well_and_time(r: Random):
    for line in ("A172", "BT474", "BV2", "Huh7", "MCF7", "SHSY5Y", "SKOV3", "SkBr3"):
        for well in r.sample([f"{a}{b}" for a in "ABCDEFGH" for b in range(1, 13)], 8):
            for t in range(0, 72, 12):
                for q in range(1, 4):
                    stamp = f"{t // 24:02d}d{t % 24:02d}h00m"
                    yield f"{line}_Phase_{well}_{stamp}_{q}.tif", (line, well), line


@yes
def malaria_thin_smears(r: Random):
    for p in range(33, 190):
        infected = p % 4 != 0
        code = f"C{p}P{p - 32}" if infected else f"C{p}N"
        y, m, d = day(r, 2015, 2)
        for _ in range(r.randint(1, 3)):
            h, mi, s = clock(r)
            for _ in range(r.randint(2, 8)):
                c = "Parasitized" if infected and r.random() < 0.5 else "Uninfected"
                image = f"IMG_{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}"
                yield f"{c}/{code}ThinF_{image}_cell_{r.randrange(200)}.png", p, c


@yes
def field_stamp_and_crop(r: Random):
    for _ in range(120):
        y, m, d = day(r, 2019, 1)
        h, mi, s = clock(r)
        stamp = f"{y}{m:02d}{d:02d}_{h:02d}{mi:02d}{s:02d}"
        for k in range(r.randint(2, 10)):
            yield f"{stamp}_{k}.jpg", stamp, r.choice(["neut", "lymph", "mono"])


@yes
def cluster_images_per_class(r: Random):
    for c, n in (("Dyskeratotic", 90), ("Koilocytotic", 110), ("Parabasal", 70)):
        for k in range(1, n + 1):
            for cell in range(1, r.randint(2, 8)):
                yield f"im_{c}/CROPPED/{k:03d}_{cell:02d}.bmp", (c, k), c


@yes
def slide_view_cell(r: Random):
    for s in pick(r, 40, 1, 150):
        for f in range(1, r.randint(3, 8)):
            for c in range(1, r.randint(2, 7)):
                yield f"slide{s:02d}_fov{f:02d}_cell{c:03d}.png", s, r.randrange(4)


@yes
def embryo_wells(r: Random):
    for e in range(1, 40):
        for f in sorted(r.sample(range(500), 18)):
            yield f"embryo{e:02d}/F0/D2019_embryo{e:02d}_RUN{f:03d}.jpeg", e, r.randrange(4)


@yes
def mice_sections(r: Random):
    for m in pick(r, 30, 1, 99):
        y, mo, d = day(r, 2022, 2)
        for sl in "ABCD"[: r.randint(2, 4)]:
            for z in range(1, r.randint(4, 9)):
                yield f"{y}{mo:02d}{d:02d}_mouse{m:02d}_slice{sl}_zstack{z:02d}.tif", m, m % 3


@yes
def animals_with_spaces(r: Random):
    for a in range(1, 26):
        for s in range(1, 5):
            for g in range(1, 5):
                yield f"Animal {a} Section {s} Region {g}.tif", a, (a * 5) % 4


@yes
def short_words_of_a_lab(r: Random):
    for m in range(1, 33):
        for s in range(1, 4):
            for f in range(1, r.randint(4, 9)):
                yield f"m{m}_s{s}_f{f}.tif", m, m % 2


@yes
def worms_by_day(r: Random):
    for d in range(1, 8):
        for w in range(1, 31):
            for k in range(1, r.randint(2, 4)):
                yield f"day{d:02d}/worm{w:02d}_{k}.tif", w, r.randrange(2) + d % 2


@yes
def leukaemia_patients_as_codes(r: Random):
    for _ in range(60):
        code, label = f"{letters(r, 3)}", r.choice(["AML", "CML", "CTRL"])
        for k in range(1, r.randint(10, 30)):
            yield f"{label}/{code}_{k:03d}.tif", code, label


@no
def colon_codes(r: Random):
    for c in ("ADI", "BACK", "DEB", "LYM", "MUC", "NORM"):
        for _ in range(160):
            yield f"{c}/{c}-{letters(r, 8)}.tif", None, c


@no
def cells_class_and_random_number(r: Random):
    for c in ("BA", "EO", "ERB", "IG", "LY", "MO"):
        for k in pick(r, 200, 1000, 999999):
            yield f"{c}_{k}.jpg", None, c


@no
def marrow_class_index_in_folders_of_thousand(r: Random):
    for c, n in (("BLA", 1400), ("EOS", 800), ("LYT", 1700)):
        for k in range(1, n, 2):
            yield f"{c}/{k // 1000 * 1000:04d}-{k // 1000 * 1000 + 999:04d}/{c}_{k:05d}.jpg", None, c


@no
def polyp_three_letters(r: Random):
    for k in range(900):
        text = "".join(chr(97 + k // 26**i % 26) for i in (2, 1, 0))
        yield f"MHIST_{text}.png", None, r.randrange(2)


@no
def breast_challenge_letters(r: Random):
    for c in ("b", "n", "is", "iv"):
        for k in range(1, 101):
            yield f"{c}{k:03d}.tif", None, c


@no
def leukaemia_image_class_flag(r: Random):
    for k in range(1, 261):
        yield f"Im{k:03d}_{int(k < 131)}.tif", None, int(k < 131)


@no
def lymph_hash_tif(r: Random):
    for _ in range(900):
        yield f"{hexa(r, 40)}.tif", None, r.randrange(2)


@no
def keras_with_prefix(r: Random):
    for _ in range(1000):
        yield f"aug_{r.randrange(400)}_{r.randrange(10000)}.jpeg", None, r.randrange(3)


@no
def lung_colon_augmented_counter(r: Random):
    for c in ("colonca", "colonn", "lungaca", "lungn", "lungscc"):
        for k in range(1, 301):
            yield f"{c}/{c}{k}.jpeg", None, c


@no
def magnification_counter(r: Random):
    numbers = r.sample(range(1, 5000), 900)
    for k in numbers:
        yield f"{r.choice(['10x', '20x', '40x'])}_{k:04d}.png", None, r.randrange(2)


@no_given_labels
def object_turntable(r: Random):
    for o in range(1, 31):
        for a in range(0, 360, 10):
            yield f"object{o:02d}/{o:02d}_{a:03d}.png", None, o
