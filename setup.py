"""Adds the workflow to the wheel: beside ranktrial/, the folder ranktrial_workflow/ has the Snakefile and what it runs.

So scripts/ is no package of that name among all that are installed. pyproject.toml has everything else.
"""

import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

WORKFLOW = ("Snakefile", "CITATION.cff", "rules/**/*", "scripts/**/*", "envs/*", "profiles/**/*")


def files():
    found = [path for pattern in WORKFLOW for path in Path().glob(pattern)]
    return [path for path in found if path.is_file() and "__pycache__" not in path.parts]


class WithWorkflow(build_py):
    def run(self):
        super().run()
        target = Path(self.build_lib, "ranktrial_workflow")
        shutil.rmtree(target, ignore_errors=True)
        for path in () if self.editable_mode else files():
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target / path)

    def get_source_files(self):  # of a source distribution
        return [*super().get_source_files(), *map(str, files())]


setup(cmdclass={"build_py": WithWorkflow})
