"""Rules that rewrite the logical graph. Results never change, only the work to get them."""

from penstock.optimizer.rules import RULES, optimize

__all__ = ["RULES", "optimize"]
