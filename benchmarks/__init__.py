"""Speed, memory, growth, quality, GPU, reliability: `make bench`, `python -m benchmarks NAME`."""
