"""A stand-in for the passages of Touché 2022, in the layout of ir_datasets, to run config/touche-open.yaml on.

    .venv/bin/python docs/touche_standin.py results/downloads/pypi-insuranceqa_data==1.2 FOLDER
    IR_DATASETS_HOME=FOLDER make run CONFIG=config/touche-open.yaml

Reads InsuranceQA as the example fetches it (make run). Its topics are 50 questions in which the rules find two objects,
its passages 1,500 answers. Relevance follows InsuranceQA; quality and stance are drawn. Without the hub, a second
configuration file gives `minilm` and `ms-marco` the weights that they have in config/config.yaml.
"""

from __future__ import annotations

import json
import random
import sys
from pathlib import Path
from xml.sax.saxutils import escape

from ranktrial.common.unpacking import opened
from ranktrial.datasets.formats import insuranceqa
from ranktrial.ir.comparative import tag_question

TOPICS, PASSAGES, UNRELATED = 50, 1500, 20  # UNRELATED: further judged passages of a topic
DRAWN = {"quality": (0, 1, 2), "stance": ("FIRST", "SECOND", "NEUTRAL", "NO")}


def topic(number: int, question: str) -> str:
    """A topic in Touché's XML, with exactly two objects."""
    objects = ", ".join(one.replace(",", " ") for one in tag_question(question).objects)
    fields = {"number": number, "title": question, "objects": objects, "description": question, "narrative": question}
    return f"<topic>{''.join(f'<{name}>{escape(str(text))}</{name}>' for name, text in fields.items())}</topic>"


def main() -> None:
    folder, generator = Path(sys.argv[2]) / "touche/2022/task-2", random.Random(1)
    folder.mkdir(parents=True)
    with opened(Path(sys.argv[1])) as root:
        collection = insuranceqa.read(root, insuranceqa.Options())
        texts = {document.id: document.contents for document in collection.documents or []}
    qrels = {query: of for split in collection.qrels.values() for query, of in split.items()}
    queries = [one for split in collection.queries.values() for one in split.items() if one[0] in qrels]
    asked = [one for one in queries if len(tag_question(one[1]).objects) == 2][:TOPICS]
    answers = {document for query, _ in asked for document in qrels[query]}
    others = generator.sample([document for document in texts if document not in answers], PASSAGES - len(answers))
    name = "clueweb12-{}___1".format
    passages = [{"id": name(one), "contents": texts[one], "chatNoirUrl": ""} for one in sorted(answers.union(others))]
    (folder / "passages.jsonl").write_text("".join(json.dumps(passage) + "\n" for passage in passages))
    topics = "".join(topic(number, question) for number, (_, question) in enumerate(asked, 1))
    (folder / "queries.xml").write_text(f"<topics>{topics}</topics>")
    lines: dict[str, list[str]] = {"relevance": [], **{kind: [] for kind in DRAWN}}
    for number, (query, _) in enumerate(asked, 1):
        for document in [*qrels[query], *generator.sample(others, UNRELATED)]:
            lines["relevance"].append(f"{number} 0 {name(document)} {2 if document in qrels[query] else 0}\n")
            for kind, values in DRAWN.items():
                lines[kind].append(f"{number} 0 {name(document)} {generator.choice(values)}\n")
    for kind, judgements in lines.items():
        (folder / f"qrels-{kind}.qrels").write_text("".join(judgements))


if __name__ == "__main__":
    main()
