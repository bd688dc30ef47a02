"""Windows over a list, the question of one, and the orders that answers mean; all held against rank-llm's rules."""

import random

import pytest

from ranktrial.inference.permutations import messages, order, windows


def rank_llm(count: int, size: int, step: int) -> list[tuple[int, int]]:
    """The windows of rank-llm's sliding_windows, as its loop has them."""
    made, start, end = [], count - size, count
    while end > 0 and start + step != 0:
        start = max(start, 0)
        made.append((start, end))
        start, end = start - step, end - step
    return made


def test_windows_are_those_of_rank_llm():
    assert list(windows(100, 20, 10))[:2] == [(80, 100), (70, 90)] and list(windows(100, 20, 10))[-1] == (0, 20)
    for count in range(2, 60):
        for size in (2, 3, 10, 20):
            for step in range(1, size):
                ours = list(windows(count, size, step))
                assert ours[-1][0] == 0
                if count - size != -step:  # where its loop asks for nothing at all
                    assert ours == rank_llm(count, size, step)
    assert list(windows(1, 20, 10)) == list(windows(0, 20, 10)) == []
    assert list(windows(5, 20, 10)) == [(0, 5)]  # RankGPT's own loop would ask for nothing here


def test_the_question_has_each_passage_with_its_number():
    system, user = messages("who  wrote [3] it", ["one two three", "a [2] b\nc", ""], max_words=3)
    assert system["role"] == "system" and user["role"] == "user"
    assert "[1] one two three\n\n[2] a (2) b\n\n[3] \n\n" in user["content"]
    assert "the search query: who wrote (3) it." in user["content"] and "with 3 passages" in user["content"]
    assert "{" not in messages("{query} {0}", ["{count}"], 9)[1]["content"].replace("{query} {0}", "").replace(
        "{count}", ""
    )


@pytest.mark.parametrize(
    ("answer", "places", "understood", "repaired"),
    [
        ("[2] > [1] > [3]", [1, 0, 2], True, False),
        ("Sure! [3] > [1]", [2, 0, 1], True, True),  # the missing one follows
        ("[3] > [3] > [1] > [2]", [2, 0, 1], True, True),  # a duplicate is dropped
        ("[9] > [0] > [2] > [1] > [3]", [1, 0, 2], True, True),  # others are out of range
        ("3 > 1 > 2", [2, 0, 1], True, False),
        ("2, 1, 3.", [1, 0, 2], True, False),
        ("<think>[1] is poor, [2] good</think>\n[3] > [2] > [1]", [2, 1, 0], True, False),
        ("I cannot rank 3 passages.", [0, 1, 2], False, False),
        ("", [0, 1, 2], False, False),
        ("[ 2 ]>[1]>[3]", [1, 0, 2], True, False),
        ("[99999999999999999999] > [2]", [1, 0, 2], True, True),
        ("[\u0662] > [\uff11]", [0, 1, 2], False, False),  # digits of other scripts are none
    ],
)
def test_what_an_answer_means(answer, places, understood, repaired):
    assert order(answer, 3) == (places, understood, repaired)


def test_any_answer_gives_each_place_once():
    chance = random.Random(1)
    for _ in range(300):
        text = "".join(chance.choices("[]> 0123456789,x\n\x00<think>/", k=chance.randint(0, 60)))
        assert sorted(order(text, 7).places) == list(range(7))


def test_a_good_document_moves_from_the_last_place_to_the_first():
    names = list(range(100))
    for start, end in windows(100, 20, 10):
        names[start:end] = sorted(names[start:end], key=lambda name: (name != 99, name))
    assert names == [99, *range(99)]
