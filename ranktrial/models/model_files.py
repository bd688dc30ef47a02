"""The files of a model folder, checked before a model is built from them: JSON of the right structure, whole weights.

safetensors checks that a file's tensors are contiguous and fill it, but does not notice a name that occurs twice in its
header.
"""

from __future__ import annotations

from pathlib import Path, PurePosixPath
from typing import TypedDict

from ranktrial.common.errors import UserError
from ranktrial.common.paths import why_not_below
from ranktrial.common.strict_json import parse_json, read_json

WEIGHTS, SHARDS = "model.safetensors", "model.safetensors.index.json"
ROUTES = "router_config.json"
MOST_DIMENSIONS = 16  # the most that a tensor may have
OF_JSON = {dict: "an object", list: "a list", str: "a text", int: "a whole number", float: "a number"}
SHAPES = {  # keys of a model's config.json -> type of the value if it is not null
    "architectures": list,
    "id2label": dict,
    "model_type": str,
    "max_position_embeddings": int,
    "pad_token_id": int,
}


class ModelConfig(TypedDict, total=False):
    """The keys of a model's config.json that are read here; each may be null."""

    architectures: list[str]
    id2label: dict[str, object]
    num_labels: object
    problem_type: object
    model_type: str
    max_position_embeddings: int
    pad_token_id: int


def read_object(path: Path) -> dict:
    """A JSON object from a model folder. Raises UserError if it is missing, damaged or of another structure."""
    if not path.is_file():
        raise UserError(f"{path.parent}: not a model, it has no {path.name}")
    content = _read(path)
    if not isinstance(content, dict):
        raise UserError(f"{path}: {_kind(content)}; expected a JSON object")
    for key, kind in SHAPES.items() if path.name == "config.json" else ():
        value = content.get(key)
        if value is not None and (not isinstance(value, kind) or isinstance(value, bool)):
            raise UserError(f"{path}: {key} is {_kind(value)}; expected {OF_JSON[kind]}")
        least = -1 if key == "pad_token_id" else 0
        if kind is int and value is not None and value < least:
            raise UserError(f"{path}: {key} is {value}; expected a count")
    if path.name == "config.json" and not all(isinstance(name, str) for name in content.get("architectures") or []):
        raise UserError(f"{path}: architectures is not a list of texts")
    return content


def _read(path: Path):
    try:
        return read_json(path, any_size=True)
    except UserError as error:
        raise UserError(str(error).replace(": not JSON", ": damaged, not JSON", 1)) from None


def _kind(value) -> str:
    return OF_JSON.get(type(value), "null" if value is None else "true or false")


def modules(model: Path) -> list[dict]:
    """The modules in a model's modules.json, in order: objects with the texts `type` and `path`; empty without it.

    Raises UserError for a path outside the model.
    """
    path = model / "modules.json"
    if not path.is_file():
        return []
    entries = _read(path)
    expected = f"{path}: expected a list of objects with the texts path and type"
    if entries == []:
        raise UserError(f"{expected}; it is empty")
    if not isinstance(entries, list):
        raise UserError(f"{expected}; it is {_kind(entries)}")
    for number, module in enumerate(entries, 1):
        for key in ("path", "type"):
            if not isinstance(module, dict) or not isinstance(module.get(key), str):
                raise UserError(f"{expected}; number {number} has no text {key}")
        inside = module["path"]
        if inside.startswith("/") or ".." in inside.split("/"):
            raise UserError(f"{path}: refused, the module path {inside!r} leads out of the model")
        if inside not in ("", ".") and (reason := why_not_below(inside)):
            raise UserError(f"{path}: refused, the module path {inside!r} {reason}")
    paths = [module["path"] for module in entries]
    if len(set(paths)) < len(paths):
        raise UserError(f"{path}: two modules have the same path")
    return entries


def routes(model: Path) -> dict[str, list[dict]]:
    """The modules on the query and document routes of a model that begins with a Router, in the form of `modules`.

    Empty for any other model. Raises UserError unless the Router has exactly these two routes, of modules below it.
    """
    first = modules(model)[:1]
    if not first or not first[0]["type"].endswith(".Router"):
        return {}
    inside = first[0]["path"]
    file = model / inside / ROUTES
    config = read_object(file)
    types, structure, parameters = (config.get(key) or {} for key in ("types", "structure", "parameters"))
    if not isinstance(types, dict) or not isinstance(structure, dict) or set(structure) != {"query", "document"}:
        raise UserError(f"{file}: expected types, and a structure of the routes query and document alone")
    if not isinstance(parameters, dict) or parameters.get("route_mappings"):
        raise UserError(f"{file}: refused, its route_mappings; queries and documents each have the route of their name")
    found: dict[str, list[dict]] = {}
    for route, names in structure.items():
        named = isinstance(names, list) and all(isinstance(name, str) for name in names)
        if not named or not names or not all(isinstance(types.get(name), str) for name in names):
            raise UserError(f"{file}: the route {route} is not a list of modules that have a type")
        for name in names:
            if reason := "is a path" if "/" in name else why_not_below(name):
                raise UserError(f"{file}: refused, the module {name[:80]!r} {reason}")
        found[route] = [{"path": str(PurePosixPath(inside) / name), "type": types[name]} for name in names]
    if further := set(types) - {name for names in structure.values() for name in names}:
        # The library would load these too, whatever code their types name.
        raise UserError(f"{file}: refused, the module {min(further)[:80]!r} is on no route")
    return found


def all_modules(model: Path) -> list[dict]:
    """The modules of a model and of its routes, each once."""
    of_routes = [module for route in routes(model).values() for module in route]
    return list({module["path"]: module for module in [*modules(model), *of_routes]}.values())


def backbone(model: Path) -> Path:
    """The folder, within a model folder, that holds the transformer: its first (document) module's, or itself."""
    in_order = routes(model).get("document") or modules(model)
    return model / in_order[0]["path"] if in_order else model


def is_static(model: Path) -> bool:
    """Whether a model's first module looks up a vector per token and averages them, without a transformer."""
    return any(module["type"].endswith(".StaticEmbedding") for module in modules(model)[:1])


def configuration(model: Path) -> ModelConfig:
    """The config.json of a model's transformer; empty if a static embedding has none. Raises UserError otherwise."""
    file, first = backbone(model) / "config.json", modules(model)[:1]
    if file.is_file() or not first:
        return read_object(file)
    name = first[0]["type"].rpartition(".")[2]
    if name not in ("StaticEmbedding", "Router") and not name.endswith("Transformer"):
        raise UserError(f"{model}: its first module is a {name[:80]}; expected a Transformer or a StaticEmbedding")
    return {} if is_static(model) else read_object(file)


def shards(index: Path) -> dict[str, set[str]]:
    """File -> tensors of a sharded model, from its index. Raises UserError if that is invalid or a file is missing."""
    where = read_object(index).get("weight_map")
    if not isinstance(where, dict) or not where:
        raise UserError(f"{index}: no weight_map, an object of tensor -> file, in it")
    files: dict[str, set[str]] = {}
    for tensor, name in where.items():
        if not isinstance(name, str) or "/" in name or why_not_below(name) or not name.endswith(".safetensors"):
            raise UserError(f"{index}: names {str(name)[:80]!r}, which is not a file beside it, *.safetensors")
        if name not in files and not (index.parent / name).is_file():
            raise UserError(f"{index}: names {name!r}, which is not a file beside it")
        files.setdefault(name, set()).add(tensor)
    return files


def tensors(file: Path) -> dict[str, tuple[int, ...]]:
    """The tensors of a safetensors file and their shapes. Raises UserError if its header or length is invalid."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(file, "np") as opened:
            found = {name: tuple(opened.get_slice(name).get_shape()) for name in opened.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise UserError(f"{file}: damaged weights ({' '.join(str(error).split())[:300]})") from None
    for name, shape in found.items():
        if len(shape) > MOST_DIMENSIONS:
            raise UserError(f"{file}: damaged weights (tensor {name[:80]!r} has {len(shape)} dimensions)")
    _refuse_twice(file)
    return found


def _refuse_twice(file: Path) -> None:
    """Raise UserError if the header names a tensor twice; the library, which has read it, takes the last one."""
    with open(file, "rb") as opened:
        header = opened.read(int.from_bytes(opened.read(8), "little"))
    try:
        parse_json(header.decode(), str(file))
    except UserError as error:
        raise UserError(f"{file}: damaged weights (its header is {str(error).removeprefix(f'{file}: ')})") from None


def check_weights(folder: Path) -> list[Path]:
    """The checked weights of a folder: model.safetensors, or the shards named by its index; empty without either."""
    if (folder / WEIGHTS).is_file():
        tensors(folder / WEIGHTS)
        return [folder / WEIGHTS]
    if not (folder / SHARDS).is_file():
        return []
    tensors_of = shards(folder / SHARDS)
    for name, expected in sorted(tensors_of.items()):
        if missing := sorted(expected - tensors(folder / name).keys()):
            reason = f"no tensor {missing[0][:80]!r}, which {SHARDS} says is in it"
            raise UserError(f"{folder / name}: damaged weights ({reason})")
    return [folder / name for name in sorted(tensors_of)]


def weights_bytes(checkpoint: Path) -> int:
    """The total size of a checkpoint's weights, in safetensors or ONNX."""
    return sum(file.stat().st_size for kind in ("*.safetensors", "*.onnx") for file in checkpoint.rglob(kind))


def check_text(file: Path) -> None:
    """Raise UserError unless a vocabulary or merges file is non-empty UTF-8 text."""
    try:
        text = file.read_bytes().decode()
    except UnicodeDecodeError:
        raise UserError(f"{file}: damaged, not UTF-8 text") from None
    if not text.strip():
        raise UserError(f"{file}: damaged, it is empty")


def check_tokenizer(file: Path) -> None:
    """Raise UserError unless the tokenizers library can read a tokenizer.json."""
    from tokenizers import Tokenizer

    read_object(file)
    try:
        Tokenizer.from_file(str(file))
    except Exception as error:  # the library has no exception class of its own
        lines = str(error).strip().splitlines()
        raise UserError(f"{file}: damaged tokenizer ({lines[0] if lines else type(error).__name__})") from None
