"""Numbers and small arrays: nothing here knows of matrices that users bring."""
