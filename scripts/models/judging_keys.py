"""The keys of a language model that judges documents: its instruction, and the tokens whose logits are the score.

They stand apart from language_models, since the configuration is checked where no torch is installed.
"""

from __future__ import annotations

KEYS = ("instruction", "true_token", "false_token")
