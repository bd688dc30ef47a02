"""trec_eval's names of measures (ndcg_cut_10, map, recip_rank) and those of ir-measures; reads and writes nothing."""

from __future__ import annotations

import re

_WHOLE = {
    "map": "AP",
    "ndcg": "nDCG",
    "recip_rank": "RR",
    "bpref": "Bpref",
    "Rprec": "Rprec",
    "infAP": "infAP",
    "set_P": "SetP",
    "set_recall": "SetR",
    "set_F": "SetF",
    "num_ret": "NumRet",
    "num_rel": "NumRel",
    "num_rel_ret": "NumRelRet",
    "num_q": "NumQ",
}
_CUT = {"ndcg_cut": "nDCG", "map_cut": "AP", "P": "P", "recall": "R", "success": "Success"}
_CUT_NAME = re.compile(rf"({'|'.join(_CUT)})[_.]([1-9][0-9]{{0,6}})")
_PRECISION = re.compile(r"iprec_at_recall_(0\.[0-9]+|1\.0+)")


def of_trec_eval(name: str) -> str | None:
    """The name of ir-measures for one of trec_eval; None for any other."""
    if cut := _CUT_NAME.fullmatch(name):
        return f"{_CUT[cut[1]]}@{cut[2]}"
    if precision := _PRECISION.fullmatch(name):
        return f"IPrec@{float(precision[1])}"
    return _WHOLE.get(name)
