"""The identity of a job: its inputs in their order and by their names, and the user's own bytes among them."""

import json
from types import SimpleNamespace

import pytest
from snakemake.iocontainers import InputFiles, Params

from ranktrial.engine.identity import OwnPlaces, identify, in_order

SUMS = {"data/folder": "1", "clusters.tsv": "2", "gone.tsv": None}


def of(**named):
    """Inputs as Snakemake keeps them: one list, with the places of the names in it."""
    made = InputFiles()
    for name, files in named.items():
        made.extend(files)
        made._set_name(name, len(made) - len(files), end=len(made))
    return made


@pytest.mark.parametrize(
    "other",
    [
        of(control=["b"], treatment=["a"]),
        of(treatment=["a"], control=["b"]),
        of(control=["a", "b"], treatment=[]),
        of(control=["a"], others=["b"]),
    ],
)
def test_another_order_or_role_is_another_identity(other):
    assert in_order(of(control=["a"], treatment=["b"])) != in_order(other)
    assert in_order(other) == in_order(InputFiles(toclone=other))


def test_a_file_counts_as_the_declared_folder_it_lies_in_and_undeclared_ones_as_themselves():
    places = OwnPlaces(["data/folder"], SUMS.get, "results/x")
    read = ["data/folder/a/b.txt", "data/folder/c", "clusters.tsv", "gone.tsv"]
    assert places.digests(read) == {"data/folder": "1", "clusters.tsv": "2"}


def test_of_what_is_below_results_only_this_experiments_and_downloads_are_not_the_users_own():
    read = ["results/x/y", "results/downloads/z", "results/xy/run.trec", "results/run.trec"]
    assert list(OwnPlaces([], lambda path: path, "results/x").digests(read)) == read[2:]


def job(inputs, settings='{"a": 1}'):
    """The parameters of a rule's job and those that Snakemake compares, once the rule is identified."""

    def expand(wildcards, input, *further):
        params = Params(fromdict={"code": {"script": "x"}, "settings": settings})
        return params, list(params)

    rule = SimpleNamespace(expand_params=expand)
    identify([rule], OwnPlaces([], SUMS.get, "results/x"))
    return rule.expand_params({}, inputs, None, None)


def test_a_job_is_given_the_sha256_of_the_users_files_and_compared_by_them_and_by_the_order():
    inputs = of(clusters=["clusters.tsv"], metrics=["results/b", "results/a"])
    params, compared = job(inputs)
    assert json.loads(params.settings) == {"a": 1, "sha256_of": {"clusters.tsv": "2"}} and params[1] == params.settings
    assert compared == [{"script": "x"}, params.settings, in_order(inputs)]


def test_jobs_without_inputs_stay_as_they_are():
    params, compared = job(of())
    assert compared == list(params) == [{"script": "x"}, '{"a": 1}']
