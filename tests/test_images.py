"""One reader for every format: by content, never clipped, and every damage is an ImageError with a reason."""

from __future__ import annotations

import io
import struct
import zlib

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.errors import ImageError
from fiftyone_hsd.images import MAX_PIXELS, decode, pixel_digest, read_image, sniff
from fiftyone_hsd.images.depth import eight_bits

RNG = np.random.default_rng(0)
RGB = RNG.integers(0, 256, (9, 14, 3), dtype=np.uint8)


def encoded(image: Image.Image, fmt: str, **options) -> bytes:
    file = io.BytesIO()
    image.save(file, fmt, **options)
    return file.getvalue()


FORMATS = {
    "PNG": encoded(Image.fromarray(RGB), "PNG"),
    "JPEG": encoded(Image.fromarray(RGB), "JPEG"),
    "GIF": encoded(Image.fromarray(RGB[..., 0]), "GIF"),
    "BMP": encoded(Image.fromarray(RGB), "BMP"),
    "TIFF": encoded(Image.fromarray(RGB), "TIFF"),
    "WEBP": encoded(Image.fromarray(RGB), "WEBP", lossless=True),
    "PPM": encoded(Image.fromarray(RGB), "PPM"),
    "PGM": encoded(Image.fromarray(RGB[..., 0]), "PPM"),
    "PBM": encoded(Image.fromarray(RGB[..., 0] > 127), "PPM"),
}


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_by_content(name, tmp_path):
    path = tmp_path / "no extension 100% 'quoted'\n\u00fc.txt"
    path.write_bytes(FORMATS[name])
    assert sniff(path) == {"PGM": "PPM", "PBM": "PPM"}.get(name, name)
    image = read_image(path)
    assert image.shape == (9, 14, 3)
    assert image.dtype == np.uint8
    assert image.flags.c_contiguous


@pytest.mark.parametrize("name", ["PNG", "BMP", "TIFF", "WEBP", "PPM"])
def test_lossless_colours_are_exact_and_share_one_pixel_digest(name):
    assert np.array_equal(read_image(FORMATS[name]), RGB)
    assert pixel_digest(FORMATS[name]) == pixel_digest(FORMATS["PNG"])


@pytest.mark.parametrize(
    ("image", "expected"),
    [
        (Image.fromarray(RGB).convert("CMYK"), RGB),
        (Image.fromarray(RGB[..., 0] > 127), np.repeat((RGB[..., :1] > 127) * np.uint8(255), 3, 2)),
    ],
    ids=["CMYK", "1-bit"],
)
def test_modes_in_tiff(image, expected):
    assert np.abs(read_image(encoded(image, "TIFF")).astype(int) - expected).max() <= 1


def test_palette_counts_as_its_colours():
    palette = Image.fromarray(RGB).convert("P", palette=Image.Palette.ADAPTIVE, colors=16)
    assert np.array_equal(read_image(encoded(palette, "PNG")), np.asarray(palette.convert("RGB")))


def test_transparency_is_laid_over_white():
    rgba = np.dstack([RGB, np.zeros(RGB.shape[:2], np.uint8)])
    rgba[0, 0, 3] = 255
    image = read_image(encoded(Image.fromarray(rgba), "PNG"))
    assert (image[1:] == 255).all()
    assert np.array_equal(image[0, 0], RGB[0, 0])
    grey = read_image(encoded(Image.fromarray(np.dstack([RGB[..., 0], rgba[..., 3]])), "PNG"))
    assert (grey[1:] == 255).all()


def test_sixteen_bits_are_scaled_not_clipped():
    ramp = np.linspace(0, 65535, 4096).astype(np.uint16).reshape(64, 64)
    image = read_image(encoded(Image.fromarray(ramp), "PNG"))
    assert len(np.unique(image)) > 200
    assert np.abs(image[..., 0] - ramp / 257).max() <= 1
    twelve = read_image(encoded(Image.fromarray((ramp >> 4).astype(np.uint16)), "TIFF"))
    assert len(np.unique(twelve)) > 200
    assert twelve.max() == 255


def test_sixteen_bit_colour_keeps_its_depth():
    import cv2

    deep = RNG.integers(0, 65536, (6, 7, 3)).astype(np.uint16)
    data = cv2.imencode(".png", deep[..., ::-1])[1].tobytes()
    assert np.array_equal(decode(data), deep)
    assert pixel_digest(data) != pixel_digest(
        cv2.imencode(".png", (deep >> 8).astype(np.uint8)[..., ::-1])[1].tobytes()
    )


def test_float_tiff_negative_values_and_nan():
    values = np.linspace(-1000, 3000, 600, dtype=np.float32).reshape(20, 30)
    image = read_image(encoded(Image.fromarray(values), "TIFF"))
    assert len(np.unique(image)) > 200
    values[0, 0] = np.nan
    assert eight_bits(values).dtype == np.uint8
    assert eight_bits(np.full((3, 3), np.nan)).max() == 0


def test_exif_orientation_is_applied():
    exif = Image.Exif()
    exif[0x0112] = 6
    turned = read_image(encoded(Image.fromarray(RGB), "PNG", exif=exif))
    assert np.array_equal(turned, np.rot90(RGB, -1))


def test_first_frame_of_an_animation():
    first, second = Image.fromarray(RGB), Image.fromarray(255 - RGB)
    data = encoded(first, "WEBP", save_all=True, append_images=[second], lossless=True)
    assert np.array_equal(read_image(data), RGB)


def test_digest_tells_grey_from_colour_and_shape_from_content():
    grey = Image.fromarray(np.zeros((4, 6), np.uint8))
    same = {pixel_digest(encoded(i, "PNG")) for i in (grey, grey.convert("RGB"), grey.rotate(90, expand=True))}
    assert len(same) == 3


def bomb() -> bytes:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = struct.pack(">IIBBBBB", 60000, 60000, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"0")) + chunk(b"IEND", b"")


def test_a_bomb_is_refused_unread():
    assert MAX_PIXELS < 60000 * 60000
    with pytest.raises(ImageError, match="bomb"):
        read_image(bomb())


@pytest.mark.parametrize("data", [b"", b"path,label\n", b"<svg/>", b"BM not a bitmap at all, just a text"])
def test_what_is_no_image_is_said(data):
    assert sniff(data) == ""
    with pytest.raises(ImageError, match=r"empty|no image"):
        read_image(data)


@pytest.mark.parametrize("name", FORMATS)
def test_damage_never_raises_anything_else(name):
    data = FORMATS[name]
    rng = np.random.default_rng(1)
    for _ in range(60):
        broken = bytearray(data)
        for place in rng.integers(0, len(data), 3):
            broken[place] = int(rng.integers(256))
        for candidate in (bytes(broken), data[: int(rng.integers(1, len(data)))]):
            try:
                image = read_image(candidate)
            except ImageError:
                continue
            assert image.ndim == 3


@pytest.mark.parametrize("name", ["PNG", "JPEG", "BMP", "TIFF", "PPM"])
def test_a_truncated_file_fails(name):
    with pytest.raises(ImageError):
        read_image(FORMATS[name][: len(FORMATS[name]) * 2 // 3])


def test_missing_file():
    with pytest.raises(ImageError, match="cannot be read"):
        read_image("/does/not/exist.png")


def tiff(array, **options) -> bytes:
    import tifffile

    file = io.BytesIO()
    tifffile.imwrite(file, array, **options)
    return file.getvalue()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("fmt", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_every_orientation_is_what_pillow_makes_of_it(fmt, orientation):
    from PIL import ImageOps

    exif = Image.Exif()
    exif[0x0112] = orientation
    extra = {"tiffinfo": {0x0112: orientation}} if fmt == "TIFF" else {"exif": exif}
    data = encoded(Image.fromarray(RGB), fmt, **extra)
    with Image.open(io.BytesIO(data)) as picture:
        expected = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
    assert np.array_equal(read_image(data), expected)


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "int16", "float32", "float64"])
@pytest.mark.parametrize("options", [{}, {"compression": "zlib"}, {"tile": (16, 16)}, {"byteorder": ">"}], ids=str)
def test_deep_colour_tiff_keeps_every_bit(dtype, options):
    deep = (RNG.random((20, 33, 3)) * 30000).astype(dtype)
    assert np.array_equal(decode(tiff(deep, photometric="rgb", **options)), deep)
    assert pixel_digest(tiff(deep, photometric="rgb", **options)) == pixel_digest(tiff(deep, photometric="rgb"))


def test_lzw_of_deep_colours_is_read_exactly():
    import cv2

    deep = RNG.integers(0, 65536, (21, 33, 3)).astype(np.uint16)
    for predictor in (1, 2):
        options = [cv2.IMWRITE_TIFF_COMPRESSION, 5, cv2.IMWRITE_TIFF_PREDICTOR, predictor]
        data = cv2.imencode(".tiff", deep[..., ::-1], options)[1].tobytes()
        assert np.array_equal(decode(data), deep)


def test_deep_colour_ppm_keeps_every_bit():
    deep = RNG.integers(0, 65536, (5, 7, 3)).astype(">u2")
    data = b"P6\n# a comment\n7 5\n65535\n" + deep.tobytes()
    assert np.array_equal(decode(data), deep)
    with pytest.raises(ImageError, match="truncated"):
        decode(data[:-1])


def test_sixteen_bit_grey_has_one_digest_in_every_container():
    deep = RNG.integers(0, 65536, (5, 7)).astype(np.uint16)
    image = Image.fromarray(deep)
    found = [encoded(image, "PNG"), encoded(image, "TIFF"), encoded(image, "PPM"), tiff(deep, byteorder=">")]
    assert len({pixel_digest(data) for data in found}) == 1


@pytest.mark.parametrize(
    ("values", "white"),
    [
        (np.array([[0, 255]], np.uint16), 255),
        (np.array([[0, 4095]], np.uint16), 4095),
        (np.array([[0, 40000]], np.uint16), 65535),
        (np.array([[0, 1]], np.uint16), 1),
        (np.array([[0, 1.0]], np.float32), 1),
        (np.array([[0, 200.0]], np.float64), 255),
        (np.array([[0, 2**32 - 1]], np.uint32), 2**32 - 1),
    ],
)
def test_white_is_that_of_the_camera(values, white):
    assert eight_bits(values).tolist() == [[0, round(float(values[0, 1]) / white * 255)]]


def test_a_hot_pixel_and_a_narrow_band_do_not_make_the_picture_flat():
    ramp = np.linspace(0, 3000, 10000).astype(np.uint16).reshape(100, 100)
    ramp[50, 50] = 65535
    assert len(np.unique(eight_bits(ramp))) > 200
    assert (eight_bits(ramp) == 255).mean() < 0.01
    assert len(np.unique(eight_bits((ramp // 10 + 30000).astype(np.uint16)))) > 200
    assert eight_bits(np.zeros((3, 3), np.uint16)).max() == 0
    assert eight_bits(np.full((3, 3), 65535, np.uint16)).min() == 255


def test_extreme_floats_raise_and_warn_nothing():
    top = np.finfo(np.float64).max
    for values in ([-top, top], [0, 5e-324], [np.inf, -np.inf], [np.nan, 1], [top, top], [-3, -3]):
        assert eight_bits(np.array([values])).shape == (1, 2)


def test_damaged_metadata_of_a_sound_picture_is_no_damage():
    exif = Image.Exif()
    exif[0x0112], exif[271], exif[34665] = 1, "maker" * 20, {36867: "2020:01:01"}
    for fmt in ("JPEG", "PNG", "WEBP"):
        whole = bytearray(encoded(Image.fromarray(RGB), fmt, exif=exif))
        expected = read_image(encoded(Image.fromarray(RGB), fmt))
        start = whole.index(b"MM\0*") if b"MM\0*" in whole else whole.index(b"II*\0")
        whole[start + 10 : start + 60] = b"\xff" * 50
        assert np.array_equal(read_image(bytes(whole)), expected), fmt


def test_a_changed_byte_of_a_png_is_noticed():
    data = FORMATS["PNG"]
    place = data.index(b"IDAT") + 20
    with pytest.raises(ImageError, match="checksum"):
        read_image(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])


def test_zero_bytes_and_folders_have_a_reason(tmp_path):
    with pytest.raises(ImageError, match="only zero bytes"):
        read_image(bytes(500))
    with pytest.raises(ImageError, match="cannot be read"):
        read_image(tmp_path)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "PGM", "PBM"])
def test_every_cut_is_noticed(kind):
    data = FORMATS[kind]
    whole = read_image(data)
    for end in range(1, len(data), max(1, len(data) // 60)):
        try:
            image = read_image(data[:end])
        except ImageError as error:
            assert error.came  # noqa: PT017 - both outcomes are looked at
        else:  # only what no pixel depends on was cut off
            assert np.array_equal(image, whole)


@pytest.mark.data
def test_real_pictures_are_what_pillow_reads(real_data):
    from PIL import ImageOps

    for folder in ("blood_cells/TEST/MONOCYTE", "chest_xray/test/NORMAL", "coil20", "yale_a"):
        for path in sorted((real_data / folder).iterdir())[:8]:
            if path.suffix != ".csv":
                with Image.open(path) as picture:
                    expected = np.asarray(ImageOps.exif_transpose(picture).convert("RGB"))
                assert np.array_equal(read_image(path), expected), path
