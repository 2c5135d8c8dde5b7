"""The scikit-learn face: validate, call an algorithm, publish attributes."""
