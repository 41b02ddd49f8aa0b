"""Predicates: conditions under which a transform is applied."""

from penstock.connect.transforms.predicates.predicate import Predicate

__all__ = ["Predicate"]
