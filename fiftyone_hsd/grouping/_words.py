"""Words that authors of file names put beside numbers, by what the number beside them counts.

The words only tip a balance: a rule still has to show repeated values. They were collected from English naming habits
of image corpora in general (our choice), none from a single data set.
"""

from __future__ import annotations


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


PERSON_LETTERS = _set("s p")
"""Letters that stand for subject or person where they occur with every value of what stands before them."""

SEQUENCE = _set("frame frames frm fr f t time z slice page step")
"""Whose number runs on inside one recording."""

WHEN = _set("day date week wk month hour hr timepoint tp")
"""Whose number says when."""

PERSON = _set(
    "patient patients pat pt pid patientid subject subj sub person participant volunteer donor individual proband "
    "animal mouse mice rat dog horse monkey fish player speaker actor signer writer"
)
"""What is a living being: the coarsest thing that can be independent."""

LASTING = PERSON | _set("case lesion nodule plant tree plot worm larva embryo cow pig sheep bird whale house building "
                        "eye tooth slide specimen biopsy object obj uid")  # fmt: skip
"""Whose number names one thing from day to day: it does not start again with a date."""

ENTITY = LASTING | _set(
    "case id uid object obj slide wsi specimen sample biopsy lesion nodule scan series study exam visit session ses "
    "video vid clip seq sequence scene track trajectory recording movie plant tree leaf eye embryo volume vol stack "
    "well plate field fov group grp house building drive flight"
)
"""Whose number names one thing that several files may show."""

COUNTER = _set(
    "img image images im photo pic picture dsc dscn dscf dji pict cap capture snapshot shot file scan no nr number n"
)
"""Whose number counts files as a camera does."""

SOURCE = _set(
    "site center centre hospital hosp institution institute inst clinic scanner device vendor machine microscope lab "
    "source src dataset database batch cohort camera cam station location loc city country region fold shard chunk "
    "subset part wave archive"
)
"""Whose number names where files come from or how they were packed: above the group, never the group."""

SITTING = _set("exp expt experiment run take trial acq acquisition")
"""Whose number names a sitting where it comes first, and repeats where something stands before it."""

PACKING = _set("fold shard chunk subset part archive batch")
"""The words of SOURCE that only say how files were packed."""

CLASS = _set("class cls label lbl category grade stage type score target diagnosis dx age gender sex race")
"""Whose number is a property of the sample, as a class label is."""

ATTRIBUTE = CLASS | _set(
    "x y row col column angle deg mag zoom slice channel ch z t frame tile patch crop view level res size width "
    "height idx index copy aug rot run seed trial iter epoch step page line exp kv kvp dose"
)
"""Whose number tells the files of one thing apart."""

COORDINATE = _set("x y row col column left top xmin ymin tile patch crop offset")

VIEWS = _set(
    "left right l r od os o u both cc mlo ml lm ap pa lat lateral frontal front back top bottom side axial coronal "
    "sagittal volume pan mul t1 t1w t1ce t1c t2 t2w flair dwi adc pd pdw swi rgb nir ir thermal depth he ihc "
    "image images img imgs "
    "mask masks gt label labels seg segmentation annotation annotations original originals red green blue"
)
"""What is seen of a thing, not which thing."""

SPLIT = _set(
    "train training trn val valid validation dev test testing tst eval evaluation holdout unlabeled unlabelled"
)

MEDIA = _set(
    "jpg jpeg jpe png bmp dib gif tif tiff webp pgm ppm pbm pnm dcm dicom ima nii gz mha mhd nrrd svs ndpi mrxs scn "
    "vsi bif czi lif avi mp4 mov mkv webm mpg mpeg m4v wmv npy npz h5 hdf5 mat raw heic heif avif jp2 j2k jpx jxl exr "
    "hdr tga ico txt csv xml json pt pkl"
)
"""Extensions, also as they appear inside names that were converted (`a.tif.jpg`, `a_png.rf.HASH.jpg`)."""
