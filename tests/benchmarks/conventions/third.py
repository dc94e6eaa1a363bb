"""A third collection for development, after the first and second were measured: more published forms of names."""

from __future__ import annotations

import string
from random import Random

from .convention import clock, day, hexa, letters, no_later, no_later_given_labels, pick, uid, yes_later


@yes_later
def nerve_subject_image_mask(r: Random):
    for s in range(1, 48):
        for k in r.sample(range(1, 121), 20):
            yield f"{s}_{k}.tif", s, r.randrange(2)
            yield f"{s}_{k}_mask.tif", s, r.randrange(2)


@yes_later
def spine_scan_and_mask(r: Random):
    for p in pick(r, 160, 4, 850):
        yield f"sub-verse{p:03d}_ct.nii.gz", p, p % 3
        yield f"sub-verse{p:03d}_seg-vert_msk.nii.gz", p, p % 3


@yes_later
def short_uid_folders(r: Random):
    for p in r.sample(range(1, 33000), 60):
        for z in range(1, r.randint(8, 20)):
            yield f"1.2.826.0.1.3680043.{p}/{z}.dcm", p, p % 2


@yes_later
def heart_frames_with_truth(r: Random):
    for p in range(1, 101):
        for f in (1, r.randint(8, 14)):
            yield f"patient{p:03d}/patient{p:03d}_frame{f:02d}.nii.gz", p, p % 5
            yield f"patient{p:03d}/patient{p:03d}_frame{f:02d}_gt.nii.gz", p, p % 5


@yes_later
def code_of_letters_and_digits(r: Random):
    for _ in range(120):
        p = "".join(r.choice(string.ascii_uppercase) + str(r.randrange(10)) for _ in range(3))
        for t in ("sa_ED", "sa_ES", "la_ED"):
            yield f"{p}_{t}.nii.gz", p, r.randrange(3)


@yes_later
def modality_folder_patient_number(r: Random):
    for mod, n in (("CT", 25), ("MR", 30)):
        for p in r.sample(range(1, 41), n):
            for z in range(r.randint(8, 16)):
                yield f"Train_Sets/{mod}/{p}/DICOM_anon/i{z:04d},0000b.dcm", (mod, p), mod


@yes_later
def volume_and_segmentation_slices(r: Random):
    for p in range(0, 60):
        for z in r.sample(range(300), 8):
            for w in ("volume", "segmentation"):
                yield f"{w}-{p}_slice_{z}.png", p, z % 2


@yes_later
def study_slices_in_class_folders(r: Random):
    for c in range(5):
        for s in r.sample(range(c * 230 + 1, c * 230 + 230), 20):
            for z in range(r.randint(4, 12)):
                yield f"CT-{c}/study_{s:04d}_{z:03d}.png", s, c


@yes_later
def patient_node_patches(r: Random):
    for p in pick(r, 50, 4, 99):
        for n in r.sample(range(5), r.randint(1, 2)):
            for _ in range(r.randint(4, 12)):
                yield (
                    f"patient_{p:03d}_node_{n}/patch_patient_{p:03d}_node_{n}_x_{r.randrange(400) * 32}_y_"
                    f"{r.randrange(400) * 32}.png",
                    p,
                    r.randrange(2),
                )


@yes_later
def slides_with_scan_time(r: Random):
    for _ in range(60):
        case = f"20{r.randint(16, 18)}_{r.randrange(10000, 99999)}"
        y, m, d = day(r, 2019, 1)
        for k in range(1, r.randint(2, 4)):
            h, mi, s = clock(r)
            stamp = f"{y}-{m:02d}-{d:02d} {h:02d}_{mi:02d}_{s:02d}"
            for _ in range(r.randint(2, 5)):
                name = f"{case}_1-{k}_{stamp}-lv1-{r.randrange(40000)}-{r.randrange(40000)}-512-512.jpg"
                yield name, case, r.randrange(2)


@yes_later
def slide_image_region_number(r: Random):
    for s in r.sample(range(300000, 700000), 60):
        for k in r.sample(range(1, 40), r.randint(3, 9)):
            yield f"{s}-IMG{k:03d}x{r.randint(1, 40):03d}-{r.randrange(4)}.JPG", s, r.randrange(4)


@yes_later
def slide_position_label_vector(r: Random):
    for s in r.sample(range(200000, 500000), 50):
        for _ in range(r.randint(5, 15)):
            v = [r.randrange(2) for _ in range(3)]
            yield f"{s}-{r.randrange(30000)}-{r.randrange(50000)}-{v}.png", s, str(v)


@yes_later
def lesions_of_a_fundus(r: Random):
    for k in range(1, 82):
        yield f"images/IDRiD_{k:02d}.jpg", k, k % 4
        for w in r.sample(["EX", "HE", "MA", "SE", "OD"], 3):
            yield f"masks/IDRiD_{k:02d}_{w}.tif", k, k % 4


@yes_later
def children_two_eyes_two_observers(r: Random):
    for k in range(1, 40):
        for e in "LR":
            yield f"Image_{k:02d}{e}.jpg", k, k % 2
            yield f"Image_{k:02d}{e}_1stHO.png", k, k % 2
            yield f"Image_{k:02d}{e}_2ndHO.png", k, k % 2


@yes_later
def class_word_and_volume_folder(r: Random):
    for c in ("AMD", "DME", "NORMAL"):
        for k in range(1, 16):
            for z in range(1, r.randint(20, 40)):
                yield f"{c}{k}/TIFFs/8bitTIFFs/{z:03d}.tif", (c, k), c


@yes_later
def five_digit_volume_folders(r: Random):
    for v in pick(r, 60, 10001, 10500):
        for z in range(1, 400, 25):
            yield f"OCT/{v}/{z}.bmp", v, v % 4


@yes_later
def wrist_patient_stamp_projection(r: Random):
    for p in pick(r, 200, 1, 6000):
        for _ in range(r.randint(1, 3)):
            stamp, side, age = r.randrange(10**9), r.choice("LR"), r.randint(1, 19)
            for k in (1, 2):
                yield f"{p:04d}_{stamp:010d}_0{k}_WRI-{side}{k}_M{age:03d}.png", p, r.randrange(2)


@yes_later
def colonoscopy_cases_long_names(r: Random):
    for c in range(1, 40):
        y, m, d = day(r, 2018, 2)
        stamp, serial = f"{y}{m:02d}{d:02d}{r.randrange(10**6):06d}", r.randrange(10**11)
        for f in range(1, r.randint(10, 25)):
            yield f"case{c}/case_M_{stamp}_0U{serial:011d}_1_001_002-1_a{c}_ayy_image{f:04d}.jpg", c, c % 3


@yes_later
def instrument_sets(r: Random):
    for k in range(1, 11):
        for f in range(0, 225, 6):
            for s in ("left_frames", "right_frames"):
                yield f"instrument_dataset_{k}/{s}/frame{f:03d}.png", k, f // 75


@yes_later
def satellite_products_of_chips(r: Random):
    for city, n in (("2_Vegas", 90), ("3_Paris", 60), ("4_Shanghai", 80)):
        for k in r.sample(range(1, 1500), n):
            for w in ("MUL", "PAN", "RGB-PanSharpen"):
                yield f"{w}_AOI_{city}_img{k}.tif", (city, k), r.randrange(2)


@yes_later
def photo_and_road_mask(r: Random):
    for k in r.sample(range(100, 999999), 250):
        yield f"{k}_sat.jpg", k, k % 3
        yield f"{k}_mask.png", k, k % 3


@yes_later
def drone_sequence_frame_serial(r: Random):
    serial = 0
    for s in r.sample(range(1, 400), 60):
        for f in sorted(r.sample(range(6000), r.randint(4, 15))):
            serial += 1
            yield f"{s:07d}_{f:05d}_d_{serial:07d}.jpg", s, s % 3


@yes_later
def flight_stamp_frames(r: Random):
    for _ in range(20):
        y, m, d = day(r, 2019, 1)
        h, mi, s = clock(r)
        stamp = f"{y}{m:02d}{d:02d}{h:02d}{mi:02d}{s:02d}"
        for f in r.sample(range(4000), 25):
            yield f"frame_{stamp}_x_{f:07d}.jpg", stamp, r.randrange(3)


@yes_later
def clips_of_two_hashes(r: Random):
    for _ in range(50):
        v, label = f"{hexa(r, 8)}-{hexa(r, 8)}", r.randrange(3)
        for f in range(1, 200, 20):
            yield f"{v}/{v}-{f:07d}.jpg", v, label


@yes_later
def logs_cameras_microseconds(r: Random):
    for _ in range(30):
        y, m, d = day(r, 2018, 1)
        h, mi, s = clock(r)
        log = f"n0{r.choice(['08', '15'])}-{y}-{m:02d}-{d:02d}-{h:02d}-{mi:02d}-{s:02d}+0800"
        t = r.randrange(15 * 10**14, 16 * 10**14)
        for _ in range(8):
            t += r.randrange(10**6)
            for cam in ("CAM_FRONT", "CAM_BACK"):
                yield f"{log}__{cam}__{t + r.randrange(10**4)}.jpg", log, r.randrange(3)


@yes_later
def faces_number_and_sex(r: Random):
    for p in range(1, 44):
        sex = "F" if p < 20 else "M"
        for e in ("AN", "CA", "DI", "FE", "HA", "NE"):
            for mouth in "CO":
                yield f"{p:02d}{sex}_{e}_{mouth}.BMP", p, e


@yes_later
def camera_angle_before_model(r: Random):
    for p in range(1, 60):
        sex, origin = r.choice(["female", "male"]), r.choice(["Caucasian", "Moroccan"])
        for a in (45, 90, 135):
            for e in ("angry", "happy", "sad", "neutral"):
                yield f"Rafd{a:03d}_{p:02d}_{origin}_{sex}_{e}_frontal.jpg", p, e


@yes_later
def five_numbers_subject_first(r: Random):
    for p in r.sample(range(1, 347), 50):
        for s in r.sample(range(1, 5), 2):
            for e in (1, 2):
                for c in (51, 130, 140):
                    for light in (0, 6):
                        yield f"{p:03d}_{s:02d}_{e:02d}_{c:03d}_{light:02d}.png", p, e


@yes_later
def two_numbers_with_dash(r: Random):
    for p in range(1, 101):
        for k in range(1, 15):
            yield f"{p}-{k:02d}.jpg", p, p % 2


@yes_later
def sex_number_index(r: Random):
    for sex, n in (("M", 50), ("W", 42)):
        for p in range(1, n):
            for k in range(1, 9):
                yield f"{sex}-{p:03d}-{k:02d}.bmp", (sex, p), k % 4


@yes_later
def person_date_pose(r: Random):
    for p in pick(r, 150, 1, 1208):
        for _ in range(r.randint(1, 2)):
            stamp = f"9{r.randint(3, 6)}{r.randint(1, 12):02d}{r.randint(1, 28):02d}"
            for pose in ("fa", "fb", "pl"):
                yield f"{p:05d}_{stamp}_{pose}.ppm", p, r.randrange(2)


@yes_later
def light_angles_with_signs(r: Random):
    for p in r.sample(range(1, 40), 30):
        for a in (-35, 0, 20, 70):
            for e in (-20, 0, 40):
                yield f"yaleB{p:02d}_P00A{a:+04d}E{e:+03d}.pgm", p, p % 3


@yes_later
def speakers_videos_tracks(r: Random):
    for p in pick(r, 40, 10001, 11251):
        for _ in range(r.randint(2, 4)):
            v = letters(r, 11, string.ascii_letters + string.digits)
            for k in range(1, r.randint(2, 6)):
                yield f"id{p}/{v}/{k:05d}.jpg", p, p % 2


@yes_later
def action_subject_trial_letters(r: Random):
    for a in range(1, 21):
        for s in range(1, 11):
            for e in range(1, 4):
                yield f"a{a:02d}_s{s:02d}_e{e:02d}_sdepth.png", s, a


@yes_later
def five_letters_with_numbers(r: Random):
    performers = list(range(1, 41))
    for s in range(1, 9):
        for p in r.sample(performers, 6):
            for c in (1, 2):
                for a in r.sample(range(1, 61), 6):
                    yield f"S{s:03d}C{c:03d}P{p:03d}R001A{a:03d}.png", p, a


@yes_later
def gestures_fingers_subjects_as_folders(r: Random):
    for g in range(1, 11):
        for f in (1, 2):
            for s in range(1, 16):
                for e in (1, 2):
                    yield f"gesture_{g}/finger_{f}/subject_{s}/essai_{e}/depth.png", s, g


@yes_later
def activity_place_viewer_folders(r: Random):
    for act in ("CARDS", "CHESS", "JENGA", "PUZZLE"):
        for place in ("COURTYARD", "LIVINGROOM", "OFFICE"):
            for w in ("B_T", "H_S", "S_H", "T_B"):
                for f in r.sample(range(2700), 12):
                    yield f"{act}_{place}_{w}/frame_{f:04d}.jpg", (act, place, w), act


@yes_later
def videos_as_words(r: Random):
    for w in sorted({letters(r, r.randint(4, 11), string.ascii_lowercase) for _ in range(45)}):
        label = r.randrange(4)
        for f in range(r.randint(12, 30)):
            yield f"JPEGImages/480p/{w}/{f:05d}.jpg", w, label


@yes_later
def tracking_class_and_number(r: Random):
    for c in ("airplane", "bear", "bicycle", "bird", "boat", "book"):
        for k in r.sample(range(1, 21), 8):
            for f in range(1, 300, 25):
                yield f"{c}/{c}-{k}/img/{f:08d}.jpg", (c, k), c


@yes_later
def objects_of_categories_views(r: Random):
    for c in ("apple", "car", "cow", "cup", "dog", "horse"):
        for k in range(1, 11):
            for a in ("000-000", "035-045", "066-090", "090-180"):
                yield f"{c}/{c}{k}/{c}{k}-{a}.png", (c, k), c


@yes_later
def robot_sessions_of_objects(r: Random):
    for c in ("mug", "sponge", "glass", "wallet"):
        for k in range(1, 9):
            for d in (3, 4):
                for s in ("left", "right"):
                    for f in range(1, 5):
                        yield f"{c}/{c}{k}/MIX/day{d}/{s}/{f:05d}.jpg", (c, k), c


@yes_later
def commutators_with_parts(r: Random):
    for k in range(1, 51):
        for p in range(8):
            yield f"kos{k:02d}/Part{p}.jpg", k, int(p == k % 8)


@yes_later
def coil_numbers_and_positions(r: Random):
    for n in r.sample(range(425000000, 436000000), 40):
        cam = r.randint(1, 8)
        for k in r.sample(range(1, 1300), r.randint(3, 12)):
            yield f"img_{cam:02d}_{n}_{k:05d}.jpg", n, r.randrange(10)


@yes_later
def field_code_and_corners(r: Random):
    for _ in range(60):
        f = "".join(r.choice(string.ascii_uppercase + string.digits) for _ in range(9))
        for _ in range(r.randint(3, 12)):
            x, y = r.randrange(9000), r.randrange(9000)
            yield f"{f}_{x}-{y}-{x + 512}-{y + 512}.jpg", f, r.randrange(5)


@yes_later
def robot_stamp_and_frame(r: Random):
    for _ in range(25):
        y, m, d = day(r, 2016, 1)
        h, mi, s = clock(r)
        stamp = f"bonirob_{y}-{m:02d}-{d:02d}-{h:02d}-{mi:02d}-{s:02d}_{r.randrange(9)}"
        for f in sorted(r.sample(range(300), 14)):
            yield f"{stamp}_frame{f}.png", stamp, r.randrange(3)


@yes_later
def fish_tracks_long_numbers(r: Random):
    fish = 0
    for t in pick(r, 150, 1000, 99999999):
        label = r.randrange(6)
        for _ in range(r.randint(1, 6)):
            fish += r.randint(1, 9)
            yield f"fish_{label + 1:02d}/fish_{t:012d}_{fish:05d}.png", t, label


@yes_later
def rendered_people(r: Random):
    for c, n in (("horse", 51), ("human", 46)):
        for k in range(1, n):
            for v in range(r.randint(5, 10)):
                yield f"{c}s/{c}{k:02d}-{v}.png", (c, k), c


@yes_later
def subject_folder_gesture_folder_frames(r: Random):
    gestures = ("palm", "fist", "thumb", "index", "ok")
    for s in range(10):
        for g, w in enumerate(gestures, 1):
            for f in range(1, 200, 20):
                yield f"{s:02d}/{g:02d}_{w}/frame_{s:02d}_{g:02d}_{f:04d}.png", s, w


@yes_later
def films_with_times(r: Random):
    films = ("AboutABoy", "Airheads", "BestMan", "Changeling", "Evita", "Hangover", "Halloween", "Juno", "OceansEleven",
             "PrettyInPink", "Saw3D", "Serendipity", "Terminal", "UnInvited", "YouveGotMail", "21")  # fmt: skip
    for f in films:
        for _ in range(r.randint(15, 40)):
            t = r.randrange(7 * 10**6)
            yield f"{f}_{t:09d}_{r.randrange(90):08d}.png", f, r.choice(["Angry", "Happy", "Sad", "Fear"])


@yes_later
def infants_rooms_and_crops(r: Random):
    for p in pick(r, 60, 1, 400):
        for k in range(1, r.randint(2, 5)):
            for c in "abc":
                yield f"BABY-{p:03d}/day {k}/img{c}.jpg", p, r.randrange(2)


@yes_later
def lab_books_with_initials(r: Random):
    for person in ("AB", "JK", "MW"):
        for e in range(1, 13):
            for k in range(1, r.randint(5, 12)):
                yield f"{person}{e:02d}_{k:02d}.tif", (person, e), r.randrange(3)


@yes_later
def worms_strain_plate_frame(r: Random):
    for strain in ("N2", "CB1370", "daf2"):
        for p in range(1, 13):
            for f in range(0, 100, 10):
                yield f"{strain}_plate{p:02d}_f{f:03d}.png", (strain, p), strain


@no_later
def chest_counter_label_behind(r: Random):
    for k in range(1, 663):
        yield f"CHNCXR_{k:04d}_{int(k > 326)}.png", None, int(k > 326)


@no_later
def nodule_class_codes(r: Random):
    for c, n in (("JPCLN", 155), ("JPCNN", 94)):
        for k in range(1, n):
            yield f"{c}{k:03d}.png", None, c


@no_later
def fracture_counter(r: Random):
    for k in pick(r, 900, 1, 4000):
        yield f"IMG{k:07d}.jpg", None, r.randrange(2)


@no_later
def dishes_random_numbers(r: Random):
    for c in ("churros", "gnocchi", "paella", "sushi"):
        for k in r.sample(range(1000, 3900000), 220):
            yield f"images/{c}/{k}.jpg", None, c


@no_later
def scenes_random_letters(r: Random):
    for c in ("abbey", "airfield", "attic", "bakery"):
        for _ in range(200):
            yield f"{c[0]}/{c}/sun_{letters(r, 16, string.ascii_lowercase)}.jpg", None, c


@no_later
def pets_breed_counter(r: Random):
    for c in ("Abyssinian", "american_bulldog", "Bombay", "great_pyrenees"):
        for k in range(1, 190):
            yield f"{c}_{k}.jpg", None, c


@no_later
def dogs_synset_and_number(r: Random):
    for s, c in (("n02085620", "Chihuahua"), ("n02088094", "Afghan_hound"), ("n02110185", "Siberian_husky")):
        for k in r.sample(range(1, 14000), 180):
            yield f"{s}-{c}/{s}_{k}.jpg", None, c


@no_later
def faces_aligned_counter(r: Random):
    for k in range(1, 900):
        yield f"{'train' if k < 700 else 'test'}_{k:05d}_aligned.jpg", None, r.randrange(7)


@no_later
def castings_generated(r: Random):
    for c in ("ok", "def"):
        for k in r.sample(range(1, 9999), 400):
            yield f"{c}_front/cast_{c}_0_{k}.jpeg", None, c


@no_later_given_labels
def leaves_class_letter_number(r: Random):
    for c in range(1, 16):
        for k in range(1, 76):
            yield f"leaf{c}/l{c}nr{k:03d}.tif", None, c


@no_later
def centres_and_counters(r: Random):
    for c in range(1, 7):
        for k in range(1, r.randint(60, 250)):
            yield f"data_C{c}/images_C{c}/{c}_{k:04d}.jpg", None, r.randrange(2)


@no_later
def organ_and_counter(r: Random):
    for c in ("human_bladder", "human_brain", "mouse_heart", "mouse_liver", "human_lung"):
        for k in range(1, 60):
            yield f"{c}/{c}_{k:02d}.png", None, c


@no_later
def two_hash_halves(r: Random):
    for _ in range(800):
        yield f"{hexa(r, 8)}-{hexa(r, 8)}.jpg", None, r.randrange(3)


@no_later
def blood_class_counter(r: Random):
    for c, n in (("Benign", 504), ("Early", 985), ("Pre", 963)):
        for k in range(1, n, 3):
            yield f"{c}/WBC-{c}-{k:03d}.jpg", None, c


@no_later
def tiny_pictures_synonyms(r: Random):
    for c in ("automobile", "auto", "station_wagon", "cab", "fireboat", "liner", "tabby_cat", "lapdog"):
        for k in r.sample(range(2200), 90):
            yield f"{c}_s_{k:06d}.png", None, "vehicle" if c[0] in "asf" else "other"


@no_later
def two_sources_of_a_merged_set(r: Random):
    for c in ("cat", "dog"):
        for k in r.sample(range(50000), 150):
            yield f"{c}/cifar10-train-{k}.png", None, c
        for k in r.sample(range(30000), 200):
            yield f"{c}/n0{2123045 if c == 'cat' else 2085620}_{k}.png", None, c


@no_later
def class_dot_counter(r: Random):
    for c in ("cat", "dog"):
        for k in range(500):
            yield f"{c}.{k}.jpg", None, c


@no_later
def textures_train_test_classes(r: Random):
    for c in range(1, 7):
        for part in ("Train", "Test"):
            for k in r.sample(range(1, 1150), 90):
                yield f"Class{c}/{part}/{k:04d}.PNG", None, c


@no_later
def gender_class_and_counter(r: Random):
    for k in range(1, 900):
        yield f"{r.choice(['male', 'female'])}_{k:06d}.jpg.chip.jpg", None, r.randrange(2)


@no_later
def uid_without_folders(r: Random):
    for _ in range(600):
        yield f"train/{uid(r, '1.2.826.0.1.3680043.8.498')}.png", None, r.randrange(2)


@no_later
def survey_photos_by_random_code(r: Random):
    for _ in range(700):
        yield f"{letters(r, 3)}{r.randrange(1000):03d}{letters(r, 2)}.jpg", None, r.randrange(3)


@no_later
def scene_categories_bare_numbers(r: Random):
    numbers = r.sample(range(20000), 1000)
    for i, k in enumerate(numbers):
        c = ("buildings", "forest", "glacier", "sea")[i % 4]
        yield f"seg_train/{c}/{k}.jpg", None, c
