"""What shape a matrix must have."""

from __future__ import annotations

from orthant.errors import InvalidInputError


def check_dimensions(shape: tuple[int, ...]) -> None:
    """Refuse what is not a matrix with rows and columns."""
    if len(shape) != 2:
        raise InvalidInputError(
            f"Expected a 2-D matrix, got {len(shape)} dimension(s). Reshape your data with "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one sample"
        )
    for count, name in zip(shape, ("sample", "feature"), strict=True):
        if count == 0:
            # In scikit-learn's words.
            raise InvalidInputError(
                f"Found array with 0 {name}(s) (shape={shape}) while a minimum of 1 is required."
            )
