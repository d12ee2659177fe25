"""Packs the package and a library that is built already into a wheel: local_wheel.py LIBRARY FOLDER.

`make test` uses it with the library that `cargo test --workspace` has built. Maturin, which packs what is published,
lets cargo compile for the package alone, and then most crates are compiled again with fewer features.
"""

import base64
import hashlib
import re
import sys
import sysconfig
import zipfile
from pathlib import Path

try:
    import tomllib
except ImportError:  # Python 3.10 and older
    from pip._vendor import tomli as tomllib

HERE = Path(__file__).resolve().parent
SKIPPED = {"__pycache__"}


def metadata(project, version):
    """The lines of METADATA that pip and importlib.metadata read."""
    lines = ["Metadata-Version: 2.4", f"Name: {project['name']}", f"Version: {version}", f"Summary: {project['description']}"]
    lines.append(f"Requires-Python: {project['requires-python']}")
    for extra, needed in project.get("optional-dependencies", {}).items():
        lines.append(f"Provides-Extra: {extra}")
        lines += [f"Requires-Dist: {name} ; extra == '{extra}'" for name in needed]
    return "\n".join(lines) + "\n"


def entry_points(project):
    groups = project.get("entry-points", {})
    return "".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items()) for group, entries in groups.items()
    )


def main(library, folder):
    project = tomllib.loads((HERE / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    workspace = (HERE.parent / "Cargo.toml").read_text(encoding="utf-8")
    version = re.search(r'^version = "(.*)"$', workspace, re.MULTILINE).group(1)
    tag = "cp39-abi3-" + re.sub(r"[-.]", "_", sysconfig.get_platform())
    about = f"{project['name']}-{version}.dist-info"
    sources = (path for path in (HERE / project["name"]).rglob("*") if path.is_file() and not SKIPPED & set(path.parts))
    files = {str(path.relative_to(HERE)): path.read_bytes() for path in sorted(sources)}
    files[f"{project['name']}/_native.abi3.so"] = Path(library).read_bytes()
    files[f"{about}/METADATA"] = metadata(project, version).encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    files[f"{about}/entry_points.txt"] = entry_points(project).encode()
    digests = {name: base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode() for name, content in files.items()}
    record = "".join(f"{name},sha256={digests[name]},{len(content)}\n" for name, content in files.items())
    files[f"{about}/RECORD"] = (record + f"{about}/RECORD,,\n").encode()
    Path(folder).mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / f"{project['name']}-{version}-{tag}.whl", "w") as wheel:
        for name, content in files.items():
            wheel.writestr(name, content)


if __name__ == "__main__":
    main(*sys.argv[1:])
