"""The frozen records that travel between packages."""

from robustclevr.records.clip import Clip, Point, RenderedClip, Rgb, Sprite, Texture, VideoOptions
from robustclevr.records.clip_plan import CLIP_PLAN_VERSION, ClipPlan, ClipVariant
from robustclevr.records.codec import canonical_json, from_json, to_json
from robustclevr.records.curve import Curve
from robustclevr.records.draw import Draw, NodeDraw, Value
from robustclevr.records.picture_plan import PICTURE_PLAN_VERSION, PicturePlan, SourcePicture
from robustclevr.records.plan import (
    PLAN_VERSION,
    Choice,
    ImagePlan,
    Plan,
    RenderPass,
    RenderSettings,
    Step,
)
from robustclevr.records.render import LinearImage, Receipt, Render, Retry, Variant
from robustclevr.records.scene import Camera, Light, Scene, SceneObject, SceneOptions, Vector

__all__ = [
    "CLIP_PLAN_VERSION",
    "PICTURE_PLAN_VERSION",
    "PLAN_VERSION",
    "Camera",
    "Choice",
    "Clip",
    "ClipPlan",
    "ClipVariant",
    "Curve",
    "Draw",
    "ImagePlan",
    "Light",
    "LinearImage",
    "NodeDraw",
    "PicturePlan",
    "Plan",
    "Point",
    "Receipt",
    "Render",
    "RenderPass",
    "RenderSettings",
    "RenderedClip",
    "Retry",
    "Rgb",
    "Scene",
    "SceneObject",
    "SceneOptions",
    "SourcePicture",
    "Sprite",
    "Step",
    "Texture",
    "Value",
    "Variant",
    "Vector",
    "VideoOptions",
    "canonical_json",
    "from_json",
    "to_json",
]
