"""The converters of docs/converters/, on small files in the forms that Yahoo! Answers L6 and DPR's files have."""

import gzip
import json
import os
import subprocess
import sys
from pathlib import Path

from ranktrial.ir.collection import read_corpus, read_queries
from ranktrial.ir.trec import read_qrels
from tests.datasets.test_ir_datasets import both, home  # noqa: F401
from tests.support.prepared import prepare

CONVERTERS = Path(__file__).parents[2] / "docs/converters"
YAHOO, SQUAD = CONVERTERS / "yahoo_answers.py", CONVERTERS / "dpr_squad.py"

XML = """<?xml version="1.0" encoding="UTF-8"?><ystfeed>
<vespaadd><document type="wisdom"><uri>1</uri><subject>How do I melt ice?</subject>
<content>It is on my&lt;br /&gt; stairs.</content><bestanswer>Salt melts ice well.</bestanswer>
<nbestanswers><answer_item>Salt melts ice well.</answer_item><answer_item>Wait until spring comes.</answer_item>
<answer_item>Salt!</answer_item></nbestanswers></document></vespaadd>
<vespaadd><document><uri>2</uri><subject>Is ice cold in winter?</subject><bestanswer>Yes, it is cold.</bestanswer></document></vespaadd>
<vespaadd><document><uri>3</uri><subject>Tell me how to bake bread</subject><bestanswer>Flour, water, salt, heat.</bestanswer></document></vespaadd>
</ystfeed>"""


def convert(tmp_path, script, *arguments, **environment):
    command = [sys.executable, script, *arguments]
    subprocess.run(command, cwd=tmp_path, env=os.environ | environment, check=True, timeout=120)


def test_yahoo_answers_with_question_and_description_and_all_answers(tmp_path):
    (tmp_path / "l6.xml").write_text(XML)
    convert(tmp_path, YAHOO, "l6.xml", "yahoo")
    prepare(tmp_path / "yahoo", tmp_path / "out", {"format": "beir", "seed": 1})
    assert read_queries(tmp_path / "out/queries/train.jsonl") == {
        "q0": "How do I melt ice? It is on my stairs.",
        "q2": "Tell me how to bake bread",
    }
    assert read_qrels(tmp_path / "out/qrels/train.qrels") == {"q0": {"a0-0": 1, "a0-1": 1}, "q2": {"a2-0": 1}}
    texts = [document.text for document in read_corpus(tmp_path / "out/corpus.jsonl")]
    assert texts == ["Salt melts ice well.", "Wait until spring comes.", "Flour, water, salt, heat."]


def test_squad_of_dpr_shares_the_passages_of_natural_questions(tmp_path, home):  # noqa: F811
    question = {"question": "who", "answers": ["B"], "hard_negative_ctxs": [], "negative_ctxs": [],
                "positive_ctxs": [{"passage_id": "2", "score": 1000}]}  # fmt: skip
    files = {"dpr-w100/docs.tsv.gz": "id\ttext\ttitle\n1\tone \tA\n2\ttwo\tB\n3\tthree\tB\n",
             "dpr-w100/nq-dev.json.gz": json.dumps([question])}  # fmt: skip
    both(tmp_path, home(files), "ir_datasets:dpr-w100", {"test": "dpr-w100/natural-questions/dev"})
    for split, passages in (("train", ["1"]), ("dev", ["3", "2"])):
        asked = {"question": f"what in {split}", "positive_ctxs": [{"psg_id": passage} for passage in passages]}
        lacking = {"question": "nothing", "positive_ctxs": []}
        with gzip.open(tmp_path / f"{split}.json.gz", "wt") as file:
            json.dump([asked, lacking], file)
    convert(tmp_path, SQUAD, "train.json.gz", "dev.json.gz", "squad", IR_DATASETS_HOME=str(tmp_path / "home"))
    shared = tmp_path / "out/corpus.jsonl"  # Natural Questions'
    prepare(tmp_path / "squad", tmp_path / "prepared", {"format": "beir", "seed": 1}, shared)
    assert read_qrels(tmp_path / "prepared/qrels/test.qrels") == {"test0": {"2": 1, "3": 1}}
    assert read_qrels(tmp_path / "prepared/qrels/train.qrels") == {"train0": {"1": 1}}
    assert read_queries(tmp_path / "prepared/queries/test.jsonl") == {"test0": "what in dev"}
