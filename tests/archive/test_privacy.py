"""Folders and secrets are taken out of texts, and nothing else is."""

import gzip

import pytest

from ranktrial.archive.privacy import Privacy, recorded_environment


@pytest.fixture
def privacy(tmp_path):
    home = tmp_path / "home" / "ann"
    (home / ".cache/huggingface").mkdir(parents=True)
    (home / ".cache/huggingface/token").write_text("hf_FromTheFile123\n")
    (home / ".netrc").write_text("machine example.org login ann password OpenSesame9\n")
    working = home / "work" / "ranktrial"
    working.mkdir(parents=True)
    return Privacy(
        working, [home], {"HF_TOKEN": "hf_FromTheEnvironment", "EDITOR": "a-long-editor-name", "MY_KEY_ID": "x"}
    )


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("{work}/results/x.tsv", "results/x.tsv"),
        ("cd {work}", "cd ."),
        ("'{home}/data/x'", "'~/data/x'"),
        ("file://{home}/x", "file://~/x"),
        ("{home}a/x and x{home}/y", "{home}a/x and x{home}/y"),  # other folders that only look alike
        ("token hf_FromTheFile123, hf_FromTheEnvironment", "token ***, ***"),
        ("OpenSesame9", "***"),
        ("https://ann:pass@example.org/x", "https://***@example.org/x"),
        ("docker://bm25s@sha256:1a2b", "docker://bm25s@sha256:1a2b"),  # an image and its digest
        ("a-long-editor-name", "a-long-editor-name"),
    ],
)
def test_a_text(privacy, tmp_path, text, cleaned):
    home = str(tmp_path / "home/ann")
    places = {"work": f"{home}/work/ranktrial", "home": home}
    assert privacy.clean_text(text.format(**places)) == cleaned.format(**places)


def test_compressed_texts_are_looked_into(privacy, tmp_path):
    content = gzip.compress(f"{tmp_path}/home/ann/x".encode(), mtime=0)
    assert gzip.decompress(privacy.clean(content)) == b"~/x"
    harmless = gzip.compress(b"q1 Q0 d1 1 0.5 t\n", compresslevel=1, mtime=5)
    assert privacy.clean(harmless) == harmless  # the run's own bytes, not packed anew


def test_environment_variables_are_reported_by_an_allow_list():
    assert recorded_environment({"OMP_NUM_THREADS": "1", "HF_TOKEN": "x", "HOME": "/h"}) == {"OMP_NUM_THREADS": "1"}
