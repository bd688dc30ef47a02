"""DPR's SQuAD in BEIR's layout: dpr_squad.py biencoder-squad1-train.json.gz biencoder-squad1-dev.json.gz TARGET"""

import gzip
import json
import sys
from pathlib import Path

import ijson
import ir_datasets

*sources, target = map(Path, sys.argv[1:])
(target / "qrels").mkdir(parents=True)
with open(target / "corpus.jsonl", "w") as corpus:
    for passage in ir_datasets.load("dpr-w100").docs_iter():  # IR_DATASETS_HOME=results/downloads/.ir_datasets has them
        record = {"_id": passage.doc_id, "title": passage.title, "text": passage.text.strip()}
        corpus.write(json.dumps(record) + "\n")
with open(target / "queries.jsonl", "w") as queries:
    for split, source in zip(("train", "test"), sources, strict=True):
        with open(target / "qrels" / f"{split}.tsv", "w") as qrels, gzip.open(source) as file:
            for number, question in enumerate(ijson.items(file, "item")):
                relevant = {
                    str(context.get("passage_id") or context["psg_id"]) for context in question["positive_ctxs"]
                }
                if relevant:
                    text = " ".join(question["question"].split())
                    queries.write(json.dumps({"_id": f"{split}{number}", "text": text}) + "\n")
                qrels.writelines(f"{split}{number}\t{passage}\t1\n" for passage in sorted(relevant))
