"""A job's settings as one text, a parameter of its rule: if the text changes, the job runs again."""

from __future__ import annotations

import json
import re
from typing import Any

STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
BRACES = {"{": "\\u007b", "}": "\\u007d"}


def settings(**values: Any) -> str:
    """A JSON object with sorted keys, so that only a changed value reruns the job.

    Braces in texts (labels, titles) are written as JSON escapes, since Snakemake would read {them} as wildcards.
    """
    text = json.dumps(values, sort_keys=True, ensure_ascii=False)
    return STRING.sub(lambda string: re.sub("[{}]", lambda brace: BRACES[brace[0]], string[0]), text)
