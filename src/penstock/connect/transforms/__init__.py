"""Single message transforms, predicates and chains of them: one file each."""

from penstock.connect.transforms.chain import TransformationChain, TransformationStage, configured_chain
from penstock.connect.transforms.registry import PREDICATES, TRANSFORMS
from penstock.connect.transforms.transformation import Transformation

__all__ = [
    "PREDICATES",
    "TRANSFORMS",
    "Transformation",
    "TransformationChain",
    "TransformationStage",
    "configured_chain",
]
