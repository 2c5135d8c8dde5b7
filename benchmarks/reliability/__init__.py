"""Hard inputs, faults and hostile files: what becomes of them here and in scikit-learn."""
