"""Word pieces of documents and queries, counted by hand beside a small tokenizer and the files of a model."""

import json

import pytest
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

from ranktrial.common.errors import UserError
from ranktrial.ir.collection import Document, write_corpus, write_queries
from scripts.datasets import word_pieces
from scripts.datasets.word_pieces import counts, read_tokenizer, sample

WORDS = ["[UNK]", "[CLS]", "[SEP]", "[PAD]", "cat", "##s", "sit", "##ting", "a", "."]


@pytest.fixture
def model(tmp_path):
    """A folder with BERT's kind of tokenizer, whose file asks for cutting at 3 tokens and for padding to 8."""
    tokenizer = Tokenizer(WordPiece({word: n for n, word in enumerate(WORDS)}, unk_token="[UNK]"))
    tokenizer.normalizer, tokenizer.pre_tokenizer = BertNormalizer(lowercase=True), BertPreTokenizer()
    tokenizer.post_processor = TemplateProcessing(single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)])
    tokenizer.enable_truncation(3)
    tokenizer.enable_padding(length=8, pad_id=3, pad_token="[PAD]")
    folder = tmp_path / "model"
    folder.mkdir()
    tokenizer.save(str(folder / "tokenizer.json"))
    return folder


def test_pieces_are_counted_without_special_tokens_limits_and_padding(model, tmp_path):
    """Cats sitting. = cat ##s sit ##ting . (5); with the title A it is 6; dog is unknown, one piece."""
    write_corpus(tmp_path / "corpus.jsonl", [Document("1", "A", "Cats sitting."), Document("2", "", "dog")])
    queries = [tmp_path / "queries" / f"{split}.jsonl" for split in ("train", "dev", "test")]
    for path, texts in zip(queries, ({"q": "a cat", "r": "cats cats cats"}, {}, {"s": "a"}), strict=True):
        write_queries(path, texts)
    assert counts(read_tokenizer(model), tmp_path / "corpus.jsonl", queries, 1) == {
        "mean_document_word_pieces": 3.5,
        "splits": {"train": {"mean_query_word_pieces": 4.0}, "test": {"mean_query_word_pieces": 1.0}},
    }


def test_a_sample_depends_on_seed_and_ids_and_not_on_their_order(monkeypatch):
    monkeypatch.setattr(word_pieces, "SAMPLE", 100)
    texts = [(f"d{n}", str(n)) for n in range(1000)]
    drawn = sample(texts, 1)
    assert len(set(drawn)) == 100 and sample(texts[::-1], 1) == drawn
    assert 2 < len(set(drawn) & set(sample(texts, 2))) < 25
    assert 400 < sum(map(int, drawn)) / 100 < 600
    assert sorted(sample(texts[:50], 1), key=int) == [text for _, text in texts[:50]]


def test_more_texts_than_one_batch(model, monkeypatch):
    monkeypatch.setattr(word_pieces, "BATCH", 2)
    assert word_pieces.mean_pieces(read_tokenizer(model), ["cat", "cats", "a cat ."]) == 2


def test_a_model_without_a_tokenizer_that_can_be_read(tmp_path):
    with pytest.raises(UserError, match=r"word_pieces: .* has no tokenizer\.json; name a model that has one"):
        read_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text(json.dumps({"model": 1}))
    with pytest.raises(UserError, match=r"tokenizer\.json: damaged tokenizer"):
        read_tokenizer(tmp_path)
