"""Yahoo! Answers L6 in BEIR's layout: yahoo_answers.py FullOct2007.xml.part1 FullOct2007.xml.part2 TARGET"""

import json
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

*sources, target = map(Path, sys.argv[1:])
(target / "qrels").mkdir(parents=True)
HOW = re.compile(r"\bhow (to|do|did|does|can|would|could|should)\b", re.IGNORECASE)


def plain(element):
    text = "".join(element.itertext()) if element is not None else ""
    return " ".join(re.sub(r"<[^>]*>", " ", text).split())


def questions():
    for source in sources:
        for _, element in ElementTree.iterparse(source):
            if element.tag == "document":
                yield element
                element.clear()


with (
    open(target / "corpus.jsonl", "w") as corpus,
    open(target / "queries.jsonl", "w") as queries,
    open(target / "qrels" / "train.tsv", "w") as qrels,
):
    qrels.write("query-id\tcorpus-id\tscore\n")
    for number, question in enumerate(questions()):
        subject = plain(question.find("subject"))
        answers = [plain(answer) for answer in question.iter("answer_item")] or [plain(question.find("bestanswer"))]
        answers = [answer for answer in dict.fromkeys(answers) if len(answer.split()) >= 4]
        if not answers or not HOW.search(subject) or len(subject.split()) < 4:
            continue
        text = f"{subject} {plain(question.find('content'))}".strip()
        queries.write(json.dumps({"_id": f"q{number}", "text": text}) + "\n")
        for rank, answer in enumerate(answers):
            corpus.write(json.dumps({"_id": f"a{number}-{rank}", "title": "", "text": answer}) + "\n")
            qrels.write(f"q{number}\ta{number}-{rank}\t1\n")
