"""Fields that files carry: EXIF always, DICOM with pydicom."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

from fiftyone_hsd.errors import FieldError
from fiftyone_hsd.grouping._file_fields import file_field, is_file_field, times


def photo(path, serial="", taken="", part=""):
    exif = Image.Exif()
    sub = exif.get_ifd(0x8769)
    if serial:
        sub[0xA431] = serial
    if taken:
        sub[0x9003] = taken
    if part:
        sub[0x9291] = part
    Image.new("RGB", (8, 8)).save(path, exif=exif)
    return str(path)


def test_exif_serial_numbers_and_times(tmp_path):
    paths = [
        photo(tmp_path / "a.jpg", "SN 1", "2021:05:03 10:00:00"),
        photo(tmp_path / "b.jpg", "SN 2", "2021:05:03 10:01:00", "25"),
        photo(tmp_path / "c.jpg"),
        str(tmp_path / "missing.jpg"),
    ]
    assert file_field(paths, "exif:BodySerialNumber").tolist() == ["SN 1", "SN 2", "", ""]
    when = times(paths)
    assert when[1] - when[0] == pytest.approx(60.25)
    assert np.isnan(when[2:]).all()


def test_unknown_fields_are_an_error_that_lists_the_known_ones():
    with pytest.raises(FieldError, match="DateTimeOriginal"):
        file_field([], "exif:Patient")
    assert is_file_field("dicom:PatientID")
    assert not is_file_field("patient")


def test_dicom_headers(tmp_path):
    pydicom = pytest.importorskip("pydicom")
    data = pydicom.Dataset()
    data.PatientID = "P7"
    data.SOPClassUID, data.SOPInstanceUID = "1.2.840.10008.5.1.4.1.1.7", "1.2.3"
    data.file_meta = pydicom.dataset.FileMetaDataset()
    data.file_meta.TransferSyntaxUID = pydicom.uid.ExplicitVRLittleEndian
    data.save_as(tmp_path / "a.dcm", enforce_file_format=True)
    (tmp_path / "b.dcm").write_bytes(b"no DICOM")
    paths = [str(tmp_path / "a.dcm"), str(tmp_path / "b.dcm")]
    assert file_field(paths, "dicom:PatientID").tolist() == ["P7", ""]
    assert file_field(paths, "dicom:StudyDate").tolist() == ["", ""]
    with pytest.raises(FieldError, match="PatientID"):
        file_field(paths, "dicom:NoSuchKeyword")
