"""One folder of a trained checkpoint with a model card, which sentence-transformers loads.

Reads the checkpoint, its timing, and the metrics and comparisons of a finished experiment. Writes a new folder: those
files of the checkpoint that loading reads, and README.md, without secrets and folders of this machine.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ranktrial.archive.model_card import Exported, card, comparisons, exported, means
from ranktrial.archive.privacy import Privacy, of_this_process
from ranktrial.archive.sources import our_origin
from ranktrial.common import ledger
from ranktrial.common.command_line import run
from ranktrial.common.digests import sha256
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.common.given_places import check_new
from ranktrial.common.strict_json import read_json
from ranktrial.configuration.reading import read_yaml
from ranktrial.experiment.resolution import resolve
from ranktrial.models.loaded_files import copy_model

CARD = "README.md"


def export(found: Exported, config: dict[str, Any], out: Path) -> None:
    """Write the folder, of the files that loading reads.

    Raises UserError if it exists, if results were changed or are links, or if a file contains a secret.
    """
    check_new(out)
    ledger.check([found.folder, found.timing])
    refuse_links(found.folder)
    privacy = of_this_process(config)
    with atomic_folder(out) as folder:
        copy_model(found.folder, folder, None)
        clean(folder, privacy)
        weights = sorted(folder.rglob("*.safetensors"))
        sums = {str(file.relative_to(folder)): sha256(file) for file in weights}
        source = our_origin()[0]
        text = card(found, means(found), comparisons(found), read_json(found.timing), source, sums)
        (folder / CARD).write_bytes(privacy.clean(text.encode()))
        privacy.refuse_left({str(file.relative_to(folder)): file for file in folder.rglob("*") if file.is_file()})


def refuse_links(checkpoint: Path) -> None:
    """Raise UserError if a checkpoint contains a link, whose file would be given away."""
    for path in [checkpoint, *sorted(checkpoint.rglob("*"))]:
        if path.is_symlink():
            raise UserError(f"{path}: is a link, which no training writes; nothing was exported")


def clean(folder: Path, privacy: Privacy) -> None:
    """Remove folders of this machine from configurations, which may state the path of weights."""
    for file in sorted(folder.rglob("*config*.json")):
        content = file.read_bytes()
        cleaned = privacy.clean(content)
        if cleaned != content:
            file.write_bytes(cleaned)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, required=True)
    parser.add_argument("--system", required=True, help="its name, as figures and tables have it")
    parser.add_argument("--seed", help="of its training; by default the first")
    parser.add_argument("--out", type=Path, required=True, help="the folder, which must not be there")
    arguments = parser.parse_args()
    for name in ("system", "out"):
        if str(getattr(arguments, name)) in ("", "."):
            raise UserError(f"{name.upper()} is not given; expected SYSTEM=name OUT=folder")
    config = read_yaml(arguments.config)
    found = exported(resolve(config, str(arguments.config)), arguments.system, arguments.seed)
    export(found, config, arguments.out)
    loader = found.model_type.LOADED_BY
    trained = f"{found.system.name} of {found.experiment.name}, seed {found.seed}"
    print(f'{arguments.out}: {trained}; {loader}("{arguments.out}") loads it')


if __name__ == "__main__":
    run(main)
