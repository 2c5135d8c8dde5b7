"""The methods: one file each, the mathematics and nothing else."""
