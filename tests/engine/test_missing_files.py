"""What is said of files that are missing and made again."""

from ranktrial.engine.rule_graph import on_missing

NAME = "results/mine/runs/mine/overlap/seed-0.timing.json"


def test_nobody_need_have_deleted_them():
    said = on_missing([NAME, "results/mine/summary.md"], "c.yaml")
    assert said == (
        f"2 files that are missing are made again, with all that depends on them, such as {NAME}: deleted, or removed "
        f"when a job failed (that one alone: snakemake {NAME} --configfile c.yaml)"
    )
    assert on_missing([NAME], "c.yaml").startswith("1 file that is missing is made again")
