"""Predictions on disk: one label map an image or clip, written by baselines, read by evaluation."""

from robustclevr.predictions.benchmark_json import (
    decode_mask,
    encode_clip,
    encode_mask,
    read_benchmark_json,
)
from robustclevr.predictions.chunks import Chunk, chunk_samples, chunks
from robustclevr.predictions.coco import (
    CATEGORIES,
    Detections,
    no_detections,
    read_captions,
    read_detections,
)
from robustclevr.predictions.files import (
    SplitFiles,
    file_stem,
    find_splits,
    is_hidden,
    open_split,
    prediction_file,
)
from robustclevr.predictions.labels import Prediction, decode_prediction, to_labels
from robustclevr.predictions.targets import Target, targets

__all__ = [
    "CATEGORIES",
    "Chunk",
    "Detections",
    "Prediction",
    "SplitFiles",
    "Target",
    "chunk_samples",
    "chunks",
    "decode_mask",
    "decode_prediction",
    "encode_clip",
    "encode_mask",
    "file_stem",
    "find_splits",
    "is_hidden",
    "no_detections",
    "open_split",
    "prediction_file",
    "read_benchmark_json",
    "read_captions",
    "read_detections",
    "targets",
    "to_labels",
]
