"""This workflow in another repository: as a module of its Snakefile, as snakedeploy writes it, or as a part of more.

Snakemake fetches the Snakefile and the rules by its source cache; the modules of Python are those of the installed
package. Both must be of one version. Reads the fetched and the installed files.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from snakemake.exceptions import WorkflowError

from ranktrial.common.home import HOME, own_file
from ranktrial.common.version import VERSION, git, installed_from

HANDLERS = ("onstart", "onsuccess", "onerror")
STATES_VERSION = "ranktrial/common/version.py"


def is_whole(workflow: Any, config: object) -> bool:
    """Whether the main Snakefile is another repository's that uses all of this workflow, unchanged, with its own
    configuration: results, records and archives are then those of a clone.
    """
    module = workflow.modifier
    if module.is_main_snakefile() or not workflow.configfiles:
        return False
    unchanged = module.modify_rulename("all") == "all" and module.modify_path("results/x") == "results/x"
    return unchanged and config is module.parent_modifier.globals["config"]


def take_handlers(workflow: Any) -> None:
    """Let Snakemake call our handlers, and not only those of the main Snakefile, which has none."""
    for name in HANDLERS:
        setattr(workflow, f"_{name}", lambda log, handler=workflow.globals[name]: handler())


def why_other_version(rules: Any, cache: Any) -> str | None:
    """Why the rules in a folder, a SourceFile, are not those of the installed package; None if they are."""
    place = rules.get_path_or_uri(secret_free=True)
    if Path(place).resolve() == HOME / "rules":
        return None
    fetched, installed = _commit(rules), installed_from()[0]
    of_rules = sorted(path.relative_to(HOME).as_posix() for path in (HOME / "rules").rglob("*.smk"))
    files = [STATES_VERSION, "Snakefile", *of_rules]
    other = next((path for path in files if _text(rules, cache, path) != own_file(path).read_text().strip()), None)
    if not other and (fetched == installed or None in (fetched, installed)):
        return None
    here = f"ranktrial {VERSION}, {f'commit {installed[:12]}' if installed else 'without a commit'}"
    there = f"has {f'commit {fetched[:12]}' if fetched else f'another {other}'}"
    return f"{place}: {there}, and installed is {here}: pip install {_requirement(rules)}"


def _text(rules: Any, cache: Any, path: str) -> str | None:
    """The text of a file of the repository where the rules come from; Snakemake cuts the last line's end off."""
    try:
        with cache.open(rules.join(f"../{path}")) as file:
            return file.read().strip()
    except (OSError, WorkflowError):
        return None


def _commit(rules: Any) -> str | None:
    """The commit from which the rules were fetched, if they come from a repository of git."""
    if hasattr(rules, "hosted_repo"):
        return str(rules.hosted_repo.repo.commit(rules.ref).hexsha)
    found = git(Path(rules.repo_path), "rev-parse", f"{rules.ref}^{{commit}}") if hasattr(rules, "repo_path") else None
    return found and found.strip()


def _requirement(rules: Any) -> str:
    """What pip installs to have the version of the rules."""
    if hasattr(rules, "hosted_repo"):
        return f'"ranktrial[workflow] @ git+https://{rules.host}/{rules.repo}@{rules.ref}"'
    return "the package of the same version"
