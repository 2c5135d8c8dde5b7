"""Lower bounds on the error of every solution, one file each.

A bound is sought first, by what may be wrong, and then proven, whatever was found.

- `table.py`: which bounds a certificate tries, in what order; `allowance.py`: the time and the
  memory that they may take.
- `relaxation.py` seeks multipliers, `reweighting.py` a matrix for a divergence.
- `eigenvalues.py` proves sums of eigenvalues from above, by the checked factor of
  `semidefinite.py`.
- `singular_values.py` holds for every setting, `all_pairs.py` and `groups.py` over one side,
  `blocks.py` and `pairs.py` over both, `divergence.py` for counts. `uniqueness.py` says how
  different an answer that is as good can be.

What an algorithm promises before it sees data is no bound: `onmf/promises.py`, and of the draws
`kmeans/seeding.py`.
"""
