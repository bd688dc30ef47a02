"""A randomly initialised causal language model of two layers, with a chat template for a query and a document."""

from pathlib import Path

from ranktrial.models import loading  # first: it sets what the libraries read while they are imported

ROLE = "messages | selectattr('role', 'eq', '{}') | map(attribute='content') | first"
TEMPLATE = (
    "{%- set told = " + ROLE.format("system") + " -%}{%- if told -%}Instruct {{ told }} {% endif -%}"
    "Query {{ " + ROLE.format("query") + " }} Document {{ " + ROLE.format("document") + " }} Answer"
)
SPECIAL = ["<pad>", "<unk>", "<eos>", "yes", "no", "Instruct", "Query", "Document", "Answer"]
SPECIAL += [*"01234"]  # by which the library finds out how a template ends


def rendered(query: str, document: str, instruction: str = "") -> str:
    """What the template makes of a pair, in plain Python."""
    return (f"Instruct {instruction} " if instruction else "") + f"Query {query} Document {document} Answer"


def build(folder: Path, texts: list[str], seed: int, template: str | None = TEMPLATE, without: tuple = ()) -> Path:
    """Write the model as a folder of transformers; `without` names special tokens that it lacks; returns the folder."""
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import Olmo2Config, Olmo2ForCausalLM, TokenizersBackend

    loading.quiet()
    folder.mkdir(parents=True, exist_ok=True)
    words = sorted({word for text in texts for word in text.split()})
    vocabulary = [word for word in dict.fromkeys([*SPECIAL, *words]) if word not in without]
    whole = Tokenizer(models.WordLevel({word: n for n, word in enumerate(vocabulary)}, unk_token="<unk>"))
    whole.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    named = {"pad_token": "<pad>", "eos_token": "<eos>", "unk_token": "<unk>"}
    tokenizer = TokenizersBackend(
        tokenizer_object=whole,
        model_max_length=64,
        **{name: token for name, token in named.items() if token not in without},
    )
    if template:
        tokenizer.chat_template = template
    tokenizer.save_pretrained(folder)
    sizes = {
        **{"vocab_size": len(vocabulary), "max_position_embeddings": 64, "hidden_size": 32, "intermediate_size": 64},
        **{"num_hidden_layers": 2, "num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": False},
    }
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = Olmo2ForCausalLM(Olmo2Config(**sizes, pad_token_id=0, eos_token_id=2))
        for parameter in model.parameters():  # far enough from nothing for scores to differ
            torch.nn.init.normal_(parameter, std=0.5) if parameter.dim() > 1 else None
        model.save_pretrained(folder)
    return folder
