"""Why a job waits in Slurm's queue, in words."""

import pytest

from ranktrial.progress.reasons import in_words, lasts


@pytest.mark.parametrize(
    ("reason", "words", "for_ever"),
    [
        ("Priority", "others are before it", False),
        ("Resources", "for free resources", False),
        ("(PartitionTimeLimit)", "time limit above that of the partition", True),
        ("JobHeldUser", "held by the user", True),
        ("launch failed requeued held", "could not be started, held", True),
        ("ReqNodeNotAvail, UnavailableNodes:c1", "nodes are down, drained or reserved", False),
        ("QOSMaxJobsPerUserLimit", "limit of the QOS: QOSMaxJobsPerUserLimit", False),
        ("AssocMaxWallDurationPerJobLimit", "limit of the account or user: AssocMaxWallDurationPerJobLimit", True),
        ("AssocGrpCpuLimit", "limit of the account or user: AssocGrpCpuLimit", False),
        ("BeginTime", "put back into the queue for some minutes", False),
        ("SomethingNew", "SomethingNew", False),
        ("", "no reason given yet", False),
    ],
)
def test_a_reason_in_words_and_whether_it_passes(reason, words, for_ever):
    assert in_words(reason) == words and lasts(reason) is for_ever
