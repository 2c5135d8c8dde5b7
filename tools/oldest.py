"""Print the lower bound of every dependency as an exact pin, for `make test-oldest`."""

import re
import tomllib
from pathlib import Path

project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
extras = project.get("optional-dependencies", {})
promised = project["dependencies"] + [
    requirement
    for extra, wanted in extras.items()
    if extra not in ("dev", "docs", "dist")
    for requirement in wanted
]
for requirement in promised:
    if match := re.fullmatch(r"([A-Za-z0-9_.-]+)(?:\[.*\])?>=([0-9.]+)", requirement):
        print(f"{match[1]}=={match[2]}")
