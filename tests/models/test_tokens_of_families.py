"""Texts that are tokenised once have the library's tokens, whatever a tokenizer is built of and whatever texts hold."""

import random

import pytest

from ranktrial.models import loading  # first: it sets what the libraries read while they are imported
from ranktrial.models.running import import_library
from ranktrial.models.token_batches import Tokenised

torch = pytest.importorskip("torch")
DRAWN = random.Random(3)
WORDS = [
    "the",
    "price",
    "of",
    "Oats",
    "ÉTÉ",
    "naïve",
    "河流",
    "don't",
    "U.S.",
    "3.5%",
    "😀",
    "á",
    "ﬁ",
    "İ",
    "[SEP]",
    "[CLS]",
    "[PAD]",
    "<s>",
    "</s>",
    "<pad>",
    "▁",
    "\u200b",
]
PARTS = [*WORDS, "x" * 50, "  ", "\n"]


def text() -> str:
    words = DRAWN.choices(PARTS, k=DRAWN.choice([0, 1, 2, 3, 5, 8, 20, 40]))
    return DRAWN.choice(["", " ", "\n"]) + "".join(word + DRAWN.choice([" ", "", "  "]) for word in words)


TEXTS = ["", " ", *(text() for _ in range(400))]
PAIRS = [(DRAWN.choice(TEXTS), one) for one in TEXTS]
BERTS = {"cls_token": "[CLS]", "sep_token": "[SEP]", "pad_token": "[PAD]", "unk_token": "[UNK]"}
ROBERTAS = {"cls_token": "<s>", "sep_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}


def frame(start: str, end: str, pair: str):
    from tokenizers import processors

    special = [(start, 0), (end, 1)]
    return processors.TemplateProcessing(single=f"{start} $A {end}", pair=f"{start} $A {pair}", special_tokens=special)


def word_pieces():
    """As BERT's."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    made = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    made.normalizer, made.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    made.train_from_iterator(TEXTS, trainers.WordPieceTrainer(vocab_size=300, special_tokens=list(BERTS.values())))
    made.post_processor = frame("[CLS]", "[SEP]", "[SEP] $B:1 [SEP]:1")
    return made, BERTS, "Bert"


def bytes_in_pairs():
    """As RoBERTa's."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers

    made, letters = Tokenizer(models.BPE()), pre_tokenizers.ByteLevel.alphabet()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=list(ROBERTAS.values()), initial_alphabet=letters)
    made.train_from_iterator(TEXTS, trainer)
    made.post_processor = processors.RobertaProcessing(("</s>", 1), ("<s>", 0), add_prefix_space=False)
    return made, ROBERTAS, "Roberta"


def unigrams():
    """As XLM-RoBERTa's, of SentencePiece."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers

    made = Tokenizer(models.Unigram())
    made.normalizer, made.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    special = list(ROBERTAS.values())
    made.train_from_iterator(TEXTS, trainers.UnigramTrainer(vocab_size=300, special_tokens=special, unk_token="<unk>"))
    made.post_processor = frame("<s>", "</s>", "</s> </s> $B </s>")
    return made, ROBERTAS, "XLMRoberta"


@pytest.fixture(scope="module", params=[word_pieces, bytes_in_pairs, unigrams], ids=lambda one: one.__name__)
def folders(request, tmp_path_factory):
    """A model of texts and one of pairs, with one tokenizer."""
    import transformers

    import_library()
    loading.quiet()
    made, special, family = request.param()
    sizes = {"hidden_size": 8, "intermediate_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2}
    settings = getattr(transformers, f"{family}Config")(
        vocab_size=500, max_position_embeddings=80, pad_token_id=2, num_labels=1, **sizes
    )
    folders = []
    for form in ("Model", "ForSequenceClassification"):
        folder = tmp_path_factory.mktemp(family) / form
        getattr(transformers, family + form)(settings).save_pretrained(folder)
        tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=64, **special)
        tokenizer.save_pretrained(folder)
        folders.append(folder)
    return folders


def same(model, data, prompt: str) -> None:
    for length in (5, 6, 16, 17):
        model.max_seq_length = length
        tokens = Tokenised(model, data, prompt)
        for first in range(0, len(data), 50):
            some = data[first : first + 50]
            expected, made = model.preprocess(some, prompt=prompt or None), tokens.tensors(some)
            assert {"input_ids", "attention_mask"} <= expected.keys()
            for name in made.keys() & expected.keys():
                assert torch.equal(made[name], expected[name]), (length, name, first)


@pytest.mark.parametrize("prompt", ["", "query: "])
def test_texts_have_the_tokens_of_the_library(folders, prompt):
    from sentence_transformers import SentenceTransformer

    same(SentenceTransformer(str(folders[0]), device="cpu"), TEXTS, prompt)


def test_pairs_have_the_tokens_of_the_library(folders):
    from sentence_transformers import CrossEncoder

    same(CrossEncoder(str(folders[1]), device="cpu"), PAIRS, "")
