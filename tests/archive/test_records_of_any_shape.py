"""Records of any shape in an archive (seeded fuzz): each reader ends in a verdict or in one line."""

import copy
import json
import random
import shutil

import pytest

from ranktrial.archive import layout
from ranktrial.archive.integrity import check
from ranktrial.archive.layout import manifest, seal
from ranktrial.archive.recompute import accounted
from ranktrial.archive.taken_over import Clone
from ranktrial.common.errors import UserError
from scripts.archive.compare_archives import compare
from scripts.archive.resume import resume
from tests.support import crafted
from tests.support.crafted import record, small, with_record

ODD = [None, True, -1, 0, 1.5, 10**17, 1e308, "", "x", "../../canary/x", "/etc/passwd", "~/x", "a\nb", "\x1b[2J", "\ud83d", "é" * 300, [], {},
       [[]], {"": ""}, ["x"], {"x": None}, "results/small/../../canary/y", "results/state/metadata/x", "0" * 64]  # fmt: skip


def places(value, path=()):
    """All places in a JSON value."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def mutated(value, rng):
    """The value with one to three places dropped, replaced, renamed or swapped."""
    value = copy.deepcopy(value)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        depth = rng.randrange(6)
        candidates = [path for path in places(value) if path and len(path) <= depth + 1] or [
            (next(iter(value)),) if value and isinstance(value, dict) else ()
        ]
        path = rng.choice(candidates)
        if not path:
            return rng.choice(ODD)
        parent = value
        for key in path[:-1]:
            parent = parent[key]
        how = rng.randrange(4)
        if how == 0:
            del parent[path[-1]]
        elif how == 1 and isinstance(parent, dict):
            parent[rng.choice([one for one in ODD if isinstance(one, str)])] = parent.pop(path[-1])
        elif how == 2 and isinstance(parent[path[-1]], dict):
            parent[path[-1]] = list(parent[path[-1]].items())
        else:
            parent[path[-1]] = rng.choice(ODD)
    return value


FUZZED = [layout.JOBS, layout.STATE, layout.MANIFEST, layout.IDENTITIES, layout.ORIGIN, layout.PACKAGES, layout.SEEDS]
PROGRAMS = ("verify", "resume", "compare")
CASES = 84  # each record four times for each program


def slim():
    """The archive without its sources, which take time and hold no records."""
    files = {name: one for name, one in small().files.items() if not name.startswith("workflow/")}
    files = with_record(files, layout.MANIFEST, crafted.forged_manifest(files))
    return {**files, layout.SEAL: seal(files[layout.MANIFEST]).encode()}


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    """The archive unpacked, with a canary beside it, and what a reader of this archive sees."""
    folder = tmp_path_factory.mktemp("fuzz")
    crafted.unpacked(slim(), folder / "archive")
    (folder / "canary").mkdir()
    (folder / "canary/x").write_text("alive")
    return folder


def attempt(program, folder, other):
    """Verify, resume or compare as their programs do, without running anything; returns whether something was wrong."""
    made = check(folder)
    if made.damages:
        return True
    if program == "verify":
        return bool(accounted(folder, made.manifest, True).findings)
    place = folder.parent / program
    shutil.rmtree(place, ignore_errors=True)
    if program == "resume":
        resume(folder, Clone(crafted.clone(place)), made.manifest, False)
        allowed = ("Snakefile", "config/small", "results/small/", "results/state/", ".snakemake/")
        written = [one for one, content in crafted.listing(place).items() if content != "folder"]
        assert all(one.startswith(allowed) for one in written), written
    else:
        place.mkdir()
        compare([folder, other], [made.manifest, record(slim(), layout.MANIFEST)], ["a", "b"], place)
    return False


@pytest.mark.parametrize("seed", [10, pytest.param(11, marks=pytest.mark.long)])
def test_records_of_any_shape_end_in_a_verdict_or_in_one_line(base, tmp_path_factory, monkeypatch, seed):
    """Seeded; whatever the records say, nothing beside the archive changes and nobody sees a traceback."""
    other = tmp_path_factory.mktemp("other")
    crafted.unpacked(slim(), other)
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path_factory.mktemp("cwd"))
    rng, refused, whole = random.Random(seed), 0, slim()
    canary = crafted.listing(base / "canary")
    for number in range(CASES):
        name = FUZZED[number % len(FUZZED)]
        files = dict(whole)
        content = mutated(record(files, name), rng)
        files[name] = json.dumps(content).encode()
        if name != layout.MANIFEST:
            made = record(files, layout.MANIFEST)
            made["files"][name] |= manifest({name: files[name]}, {}, {}, "small")["files"][name]
            files[layout.MANIFEST] = json.dumps(made).encode()
        files[layout.SEAL] = seal(files[layout.MANIFEST]).encode()
        for changed in {name, layout.MANIFEST, layout.SEAL}:
            (base / "archive" / changed).write_bytes(files[changed])
        try:
            refused += attempt(PROGRAMS[number // len(FUZZED) % len(PROGRAMS)], base / "archive", other)
        except UserError as error:
            assert "\n" not in str(error)
            refused += 1
        except Exception as error:
            pytest.fail(f"case {number}: {name}: {type(error).__name__}: {error}: {json.dumps(content)[:300]}")
        for changed in {name, layout.MANIFEST, layout.SEAL}:
            (base / "archive" / changed).write_bytes(whole[changed])
        assert crafted.listing(base / "canary") == canary, f"case {number}"
        assert not list(home.iterdir()) and {one.name for one in base.iterdir()} <= {"archive", "canary", *PROGRAMS}
    assert refused > CASES // 3
