"""Every study of this folder in turn; speed and memory are measured by ``orthant bench``.

``python -m benchmarks``
"""

import runpy

for name in ("baselines", "graphs", "quality"):
    print(f"== {name} ==", flush=True)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
