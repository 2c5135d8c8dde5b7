"""Rows on a device: tensors as a source, their kernel (fused by Triton), streaming."""
