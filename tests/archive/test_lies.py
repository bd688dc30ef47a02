"""Archives that lie: records that do not account for the results."""

import copy
import functools
import json

import pytest

from ranktrial.archive import layout
from ranktrial.archive.expected import configuration, expected
from ranktrial.archive.integrity import check
from ranktrial.archive.layout import manifest
from ranktrial.archive.recompute import accounted, verdicts
from ranktrial.common.errors import UserError
from tests.support import crafted
from tests.support.crafted import EFFECT, META, METRIC, QRELS, RUN, record, small, with_record


def job_of(jobs, output):
    return next(job for job in jobs if output in job["outputs"])


def findings(files, tmp_path, same_sources=True):
    """What does not hold in an archive whose manifest and seals were made anew: path -> reason."""
    return accounted_for(files, crafted.forged_manifest(files), tmp_path, same_sources).findings


def accounted_for(files, made, tmp_path, same_sources=True):
    folder = tmp_path / "unpacked"
    crafted.unpacked({name: one for name, one in files.items() if name.startswith(("provenance/", "config/"))}, folder)
    return accounted(folder, made, same_sources)


def test_an_honest_archive_is_accounted_for(tmp_path):
    found = accounted_for(small().files, record(small().files, layout.MANIFEST), tmp_path)
    assert found.findings == {}
    assert {path for job in found.queue for path in job["outputs"]} >= {
        METRIC,
        EFFECT,
        META,
        "results/small/report.html",
    }
    assert set(found.elsewhere) >= {RUN, QRELS}


def said(output, **keys):
    """What makes the job of an output say something else: a function of what it said, or keys to put into it."""

    def lie(jobs):
        job = job_of(jobs, output)
        for key, value in keys.items():
            job[key] = value(job[key]) if callable(value) else job[key] | value if isinstance(value, dict) else value

    return lie


def replaced(*pairs):
    return lambda text: functools.reduce(lambda done, pair: done.replace(*pair), pairs, text)


def keep_early_jobs(jobs):
    jobs[:] = [job for job in jobs if job["rule"] in ("prepare_judgements", "import_run")]


def two_contents_of_data(jobs):
    for sha256, job in zip(("0" * 64, "1" * 64), [one for one in jobs if one["rule"] == "import_run"], strict=True):
        job["inputs"]["ours.trec"] = sha256


OTHER = "another command than score does"
TURNED = replaced(("ours", "tmp"), ("theirs", "ours"), ("tmp", "theirs"))  # control and treatment
LIES = {
    "no such job": (lambda jobs: jobs.remove(job_of(jobs, METRIC)), METRIC, "no job records that it made it; score does"),
    "no job": (list.clear, RUN, "no job records that it made it; import_run does"),
    "early jobs": (keep_early_jobs, EFFECT, "no job records that it made it; compare does"),
    "unreadable command": (said(METRIC, command="python -P -m 'scripts.evaluation.score"), METRIC, OTHER),
    "no command": (said(METRIC, command=None), METRIC, OTHER),
    "another command": (said(METRIC, command=replaced(("/ours/", "/theirs/"))), METRIC, OTHER),
    "option with a path": (said(METRIC, command=replaced(("--metrics ", "--metrics=/tmp/x "))), METRIC, OTHER),
    "another script": (said(METRIC, command=replaced(("evaluation.score", "evaluation.imports"))), METRIC, OTHER),
    "missing input": (said(METRIC, inputs={"results/small/data/weather/corpus.jsonl": "0" * 64}), METRIC,
                      "its job read results/small/data/weather/corpus.jsonl; the workflow plans it otherwise"),
    "fewer inputs": (lambda jobs: job_of(jobs, EFFECT)["inputs"].pop(METRIC), EFFECT, f"its job read no {METRIC}"),
    "another input": (said(METRIC, inputs={RUN: "0" * 64}), METRIC, f"another content of {RUN}"),
    "no hash of an input": (said(METRIC, inputs={RUN: None}), METRIC, f"another content of {RUN}"),
    "another output": (said(METRIC, outputs={METRIC: "0" * 64}), METRIC, "it wrote another content"),
    "no hash of an output": (said(RUN, outputs={RUN: None}), RUN, "it wrote another content"),
    "another rule": (said(METRIC, rule="import_scores"), METRIC, "states the rule import_scores; score makes it"),
    "unknown rule": (said(RUN, rule="invent_run"), RUN, "states the rule invent_run; import_run makes it"),
    "two makers": (lambda jobs: jobs.append(copy.deepcopy(job_of(jobs, METRIC))), METRIC, "two jobs record that they made it"),
    "another hash of a script": (said(METRIC, inputs={"scripts/evaluation/score.py": "0" * 64}), METRIC,
                                 "ran another scripts/evaluation/score.py"),
    "other settings": (said(METRIC, settings={"measures": ["R@5"]}), METRIC, "settings are not those of its command"),
    "other wildcards": (said(METRIC, wildcards={"system": "theirs"}), METRIC, "records the wildcards"),
    "swapped comparison": (said(EFFECT, command=TURNED, settings={"control": "ours", "treatment": "theirs"}), EFFECT,
                           "another command than compare does"),
    "two contents of data": (two_contents_of_data, "ours.trec", "read different contents of it"),
}  # fmt: skip


@pytest.mark.parametrize(("lie", "where", "why"), LIES.values(), ids=LIES)
def test_jobs_that_lie(tmp_path, lie, where, why):
    jobs = record(small().files, layout.JOBS)
    lie(jobs)
    found = findings(with_record(small().files, layout.JOBS, jobs), tmp_path)
    assert why in found[where], found


@pytest.mark.parametrize(
    "name", [RUN, QRELS, METRIC, EFFECT, META, "results/small/tables/means.tsv", "results/small/figures/helps.svg"]
)
def test_a_changed_result_contradicts_its_job(tmp_path, name):
    found = findings({**small().files, name: small().files[name] + b"\n"}, tmp_path)
    assert "wrote another content" in found[name]


@pytest.mark.parametrize(
    "name", [RUN, QRELS, METRIC, EFFECT, META, "results/small/tables/means.tsv", "results/small/report.html"]
)
@pytest.mark.parametrize("reported", [True, False], ids=["with its job", "without its job"])
def test_a_result_that_is_missing_is_reported(tmp_path, name, reported):
    jobs = record(small().files, layout.JOBS)
    if not reported:
        jobs.remove(job_of(jobs, name))
    files = {key: one for key, one in small().files.items() if key != name}
    assert "missing" in findings(with_record(files, layout.JOBS, jobs), tmp_path)[name]


@pytest.mark.parametrize(
    "name",
    ["results/small/metrics/weather/best/seed-0.tsv", "results/small/effects/new.tsv", "results/small/tables/new.tsv"],
)
def test_a_result_without_a_job_is_reported(tmp_path, name):
    files = {**small().files, name: b"query_id\tnDCG@10\n"}
    assert findings(files, tmp_path)[name] == "no job of the workflow makes it"
    jobs = record(files, layout.JOBS)
    jobs.append({**job_of(jobs, METRIC), "outputs": {name: "0" * 64}})
    assert "which the configuration does not ask for" in findings(with_record(files, layout.JOBS, jobs), tmp_path)[name]


@pytest.mark.parametrize("name", [METRIC, EFFECT, QRELS, RUN])
def test_only_what_archives_leave_out_can_be_left_out(tmp_path, name):
    made = record(small().files, layout.MANIFEST)
    files = {key: one for key, one in small().files.items() if key != name}
    with pytest.raises(UserError, match="is left out, but no archive leaves out the kind"):
        check(crafted.resealed(files, tmp_path / "x.zip", absent={name: made["files"][name]}))
    entry = {**made["files"][name], "kind": "text"}
    with pytest.raises(UserError, match="is called 'text'; its path says"):
        check(crafted.resealed(files, tmp_path / "y.zip", absent={name: entry}))


def test_identities_and_origin_have_to_fit(tmp_path):
    identities = record(small().files, layout.IDENTITIES)
    identities["datasets"]["weather"]["prepared"]["qrels/test.qrels"] = "0" * 64
    assert "another content" in findings(with_record(small().files, layout.IDENTITIES, identities), tmp_path)[QRELS]
    origin = record(small().files, layout.ORIGIN) | {"experiment": "other"}
    assert layout.ORIGIN in findings(with_record(small().files, layout.ORIGIN, origin), tmp_path)


def test_the_resolved_configuration_has_to_fit(tmp_path):
    name = "config/resolved.yaml"
    files = {**small().files, name: small().files[name].replace(b"depth: 1000", b"depth: 2000")}
    assert files[name] != small().files[name]
    assert "is not the configuration as written" in findings(files, tmp_path)[name]


def test_another_configuration_asks_for_other_results(tmp_path):
    config = copy.deepcopy(crafted.CONFIG)
    config["comparisons"]["helps"] = {"control": "ours", "treatment": "theirs"}
    found = findings({**small().files, "config/small.yaml": json.dumps(config).encode()}, tmp_path)
    assert "another command than compare does" in found[EFFECT]


def test_an_altered_number_with_all_its_hashes_does_not_recompute(tmp_path):
    """The metric, its hash in the manifest and in all records, and the seals are changed alike."""
    files = dict(small().files)
    lines = files[METRIC].decode().splitlines()
    lines[1] = "q0\t0.123456\t1.0"
    files[METRIC] = ("\n".join(lines) + "\n").encode()
    old, new = (
        json.dumps(manifest({METRIC: one}, {}, {}, "small")["files"][METRIC]["sha256"])
        for one in (small().files[METRIC], files[METRIC])
    )
    files[layout.JOBS] = files[layout.JOBS].replace(old.encode(), new.encode())
    made = check(crafted.resealed(files, tmp_path / "x.zip")).manifest
    folder = tmp_path / "unpacked"
    crafted.unpacked(files, folder)
    found = {one.path: one for one in verdicts(folder, made, True)}
    assert found[METRIC].verdict == "different" and "0.123456 became" in found[METRIC].reason
    assert found[EFFECT].verdict == "different"
    assert found["results/small/figures/helps.png"].verdict in ("identical", "different")
    assert {one.verdict for one in found.values()} >= {"different", "cannot be recomputed here"}


BAD_CONFIGURATIONS = {
    "empty": b"", "a list": b"- 1\n", "no YAML": b"a: [\n", "binary": bytes(range(256)), "two documents": b"a: 1\n---\nb: 2\n",
    "a tag": b"experiment: !!python/object/apply:os.system ['touch hacked']\n", "another experiment": b"experiment: other\n",
    "Python of Snakemake": b"__use_yte__: true\nexperiment: small\n", "deep": b"a: " + b"[" * 50_000,
    "aliases": b"a: &a [x]\n" + b"".join(b"b%d: &b%d [*%s, *%s]\n" % (n, n, p, p) for n, p in ((n, b"a" if not n else b"b%d" % (n - 1)) for n in range(40))),
}  # fmt: skip


@pytest.mark.parametrize("content", BAD_CONFIGURATIONS.values(), ids=BAD_CONFIGURATIONS)
def test_a_bad_configuration_is_refused(tmp_path, monkeypatch, content):
    monkeypatch.chdir(tmp_path)
    crafted.unpacked({**small().files, "config/small.yaml": content}, tmp_path / "a")
    with pytest.raises(UserError) as error:
        config = configuration(tmp_path / "a", ["small.yaml"], "small")
        expected(tmp_path / "a", config, [])
    assert "\n" not in str(error.value) and not (tmp_path / "hacked").exists()
