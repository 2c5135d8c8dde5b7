"""Results as one self-contained page, and the figures that pages and tables share."""

from orthonmf.report.findings import Findings, find
from orthonmf.report.page import page
from orthonmf.report.story import Story

__all__ = ["Findings", "Story", "find", "page"]
