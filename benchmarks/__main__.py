"""Every benchmark in turn. `python -m benchmarks`."""

import runpy

for name in ("sweep", "memory", "baselines", "graphs", "quality"):
    print(f"== {name} ==", flush=True)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
