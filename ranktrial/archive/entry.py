"""Runs verify from inside an archive: `python ARCHIVE.zip`, or `python verify.py` where it was unpacked."""

import runpy
import sys
from pathlib import Path

root = Path(__file__).resolve().parent  # the zip itself, or the folder
sys.dont_write_bytecode = True  # else running would add files to the unpacked archive
sys.path.insert(0, str(root / "workflow"))
sys.argv = [sys.argv[0], "--archive", str(root), "--sources", "archive", *sys.argv[1:]]
runpy.run_module("scripts.archive.verify", run_name="__main__")
