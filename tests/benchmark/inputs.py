"""The inputs that rows share: texts and a model of config/insurance.yaml, as its `make prepare` leaves them."""

import json
from pathlib import Path

from ranktrial.ir.collection import read_corpus, read_queries

RESULTS = Path(__file__).parents[2] / "results" / "insurance"
CHECKPOINT = RESULTS / "models" / "minilm" / "untrained" / "seed-0"
DOMAINS = ("annuities", "disability-insurance", "long-term-care-insurance", "renters-insurance", "retirement-plans")
MAX_LENGTH = 128
TOKENS = 65536  # of our batches on a GPU


def checkpoint() -> Path:
    """all-MiniLM-L6-v2. Raises FileNotFoundError where it was not prepared."""
    if not CHECKPOINT.is_dir():
        raise FileNotFoundError(f"no model {CHECKPOINT}; run make benchmark, or make prepare first")
    return CHECKPOINT


def documents(domains: int = len(DOMAINS)) -> list[str]:
    """The answers of InsuranceQA, of the first domains. Raises FileNotFoundError where they were not prepared."""
    files = [RESULTS / "data" / domain / "corpus.jsonl" for domain in DOMAINS[:domains]]
    return list(dict.fromkeys(document.contents for file in files for document in read_corpus(file)))


def queries(split: str = "test", domains: int = len(DOMAINS)) -> list[str]:
    """Questions of InsuranceQA, of the first domains."""
    files = [RESULTS / "data" / domain / "queries" / f"{split}.jsonl" for domain in DOMAINS[:domains]]
    return [text for file in files for text in read_queries(file).values()]


def write_texts(folder: Path, **lists: list) -> None:
    """Write lists of texts (or of pairs) beside the model that they are for, as sides read them."""
    (folder / "texts.json").write_text(json.dumps({"checkpoint": str(checkpoint()), **lists}))


def read_texts(folder: Path) -> dict:
    """The lists of `write_texts`, and the `checkpoint`."""
    return json.loads((folder / "texts.json").read_text())


def write_cross_encoder(folder: Path, start: Path | None = None) -> None:
    """Write a cross-encoder of the model's weights, or another's, with a head that is drawn."""
    from transformers import set_seed

    from ranktrial.models.adapters import adapter

    set_seed(1)
    model = adapter("cross-encoder").load(start or checkpoint(), MAX_LENGTH, to_train=True)
    model.save_pretrained(str(folder), create_model_card=False)


def exported(kind: str, checkpoint: Path, folder: Path, precision: str = "int8") -> Path:
    """A checkpoint in ONNX, exported once into the row's folder."""
    from ranktrial.models.adapters import adapter
    from scripts.inference.export import Settings, export_checkpoint

    target = folder / f"{kind}-{precision}"
    if not target.is_dir():
        partial = folder / "partial"
        partial.mkdir(exist_ok=True)
        export_checkpoint(adapter(kind), checkpoint, partial, Settings(kind, MAX_LENGTH, precision))
        partial.rename(target)
    return target
