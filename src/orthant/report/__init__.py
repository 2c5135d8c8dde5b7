"""Results as one self-contained page, and the figures that pages and tables share."""

from orthant.report.findings import Findings, find
from orthant.report.page import page
from orthant.report.story import Story

__all__ = ["Findings", "Story", "find", "page"]
