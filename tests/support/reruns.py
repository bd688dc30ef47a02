"""Print which scripts mean something else than at a commit: what a change makes run again, before anyone meets it.

    python -m tests.support.reruns [COMMIT]     (HEAD if none is given)

Reads the sources of this folder, and those of the commit, which git unpacks into a temporary folder. Writes nothing.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIGESTS = """
import json, re
from pathlib import Path
from ranktrial.common.job_code import code_digest
planning = Path("scripts").glob("*/planning*.py")
texts = "".join(path.read_text() for path in [*Path("rules").rglob("*.smk"), *planning])
named = {name for name in re.findall(r'"([\\w/]+\\.py)(?::\\w+)?"', texts) if Path("scripts", name).is_file()}
print(json.dumps({name: code_digest(name) for name in sorted(named)}))
"""


def digests(folder: Path) -> dict[str, str]:
    """The digest of each script that a rule runs, in a folder with the workflow's sources."""
    command = [sys.executable, "-c", DIGESTS]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def different(before: dict[str, str], after: dict[str, str]) -> list[str]:
    """The scripts with another digest, and new ones."""
    return [name for name, digest in after.items() if before.get(name) != digest]


def main() -> None:
    commit = (sys.argv[1:] or ["HEAD"])[0]
    with tempfile.TemporaryDirectory() as folder:
        packed = subprocess.run(
            ["git", "archive", commit, "scripts", "ranktrial", "rules"], cwd=ROOT, capture_output=True, check=True
        )
        subprocess.run(["tar", "-x", "-C", folder], input=packed.stdout, check=True)
        changed = different(digests(Path(folder)), digests(ROOT))
    print(f"this change reruns: {', '.join(changed) or 'nothing'}")


if __name__ == "__main__":
    main()
