"""What Linux says of a processor is read as it stands there, and what it does not say is not there."""

import pytest

from ranktrial.models.instructions import BF16_PRODUCTS, WHOLE_SUMS, has


@pytest.mark.parametrize(
    ("text", "whole", "bf16"),
    [
        ("flags\t\t: fpu avx512f avx512_vnni avx512_bf16\nflags\t\t: fpu\n", True, True),
        ("flags\t\t: fpu avx512f avx512_vnni\n", True, False),
        ("flags\t\t: fpu avx2 avx_vnni avx512_bf16s\n", False, False),  # names alike
        ("model name\t: avx512_vnni\nflags\t\t: fpu avx2\n", False, False),
        ("Features\t: fp asimd bf16\n", False, False),
    ],
)
def test_instructions_are_those_that_linux_lists(text, whole, bf16, tmp_path):
    (tmp_path / "cpuinfo").write_text(text)
    assert has(WHOLE_SUMS, tmp_path / "cpuinfo") is whole
    assert has(BF16_PRODUCTS, tmp_path / "cpuinfo") is bf16


def test_none_is_known_where_linux_lists_nothing(tmp_path):
    assert not has(WHOLE_SUMS, tmp_path / "cpuinfo")
