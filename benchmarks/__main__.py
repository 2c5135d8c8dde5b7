"""Every study of this folder in turn; speed, memory and quality are those of ``orthonmf bench``.

``python -m benchmarks``
"""

import runpy

for name in ("baselines", "graphs"):
    print(f"== {name} ==", flush=True)
    runpy.run_module(f"benchmarks.{name}", run_name="__main__")
