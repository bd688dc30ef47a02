"""What a source means: other comments, docstrings and layout have the same digest, and every other change has another."""

import ast
from pathlib import Path

import pytest

from ranktrial.common.job_code import tree_digest

SOURCES = sorted((Path(__file__).parents[2] / "ranktrial/statistics").rglob("*.py"))
SOURCE = '''"""A module."""

import math


def area(radius: float, *, unit: str = "cm") -> str:
    """The area of a circle."""
    return f"{math.pi * radius ** 2:.2f} {unit}"
'''


def of(text):
    return tree_digest(ast.parse(text))


def test_a_reworded_description_of_a_key_means_the_same():
    key = 'rate: Annotated[float, "peak rate", Rule(minimum=0), NULL] = 0.1'
    assert of(key) == of(key.replace("peak rate", "highest rate")) != of(key.replace(", NULL", ""))
    assert of(key) != of(key.replace("minimum=0", "minimum=1")) and of('x: Annotated["float", 1]') != of(
        'x: Annotated["int", 1]'
    )
    assert of('x: Literal["a", "b"]') != of('x: Literal["a", "c"]')


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A module.", "Another text."),
        ('"""A module."""\n', ""),
        ('"""A module."""', '"""A module."""\n"""More of it."""'),
        ('    """The area of a circle."""\n', ""),
        ("import math", "import math  # of Python"),
        ("import math\n\n\n", "import math\n"),
        ('"cm"', "'cm'"),
        ('"cm"', 'u"cm"'),
        ('"cm"', '("c" "m")'),
        ("(radius: float, *, unit", "(\n    radius: float,\n    *,\n    unit"),
        ("return f", "return \\\n        f"),
        ("radius ** 2", "(radius ** 2)"),
        ("** 2", "** 0b10"),
    ],
)
def test_other_words_and_another_layout_mean_the_same(before, after):
    assert before in SOURCE
    assert of(SOURCE.replace(before, after, 1)) == of(SOURCE)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"cm"', '"m"'),
        ('"cm"', 'b"cm"'),
        ("** 2", "** 3"),
        ("** 2", "** 2.0"),
        ("** 2", "** True"),
        ("** 2", "** '2'"),
        ("** 2", "* 2"),
        (":.2f", ":.3f"),
        ("math.pi", "math.e"),
        ("radius: float", "radius: int"),
        ("-> str", "-> None"),
        ("*, ", ""),
        ("def area", "@cache\ndef area"),
        ("import math", "import math as math"),
        ("def area", "async def area"),
        ("    return ", "    yield "),
        ("return f", "print()\n    return f"),
    ],
)
def test_every_other_change_means_something_else(before, after):
    assert before in SOURCE
    assert of(SOURCE.replace(before, after, 1)) != of(SOURCE)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("a[1:]", "a[:1]"),
        ("a[1::2]", "a[1:2]"),
        ("f(a, b=c)", "f(a, c)"),
        ("f(*a)", "f(**a)"),
        ("{**a}", "{a: a}"),
        ("x = None", "x = 'None'"),
        ("x = ...", "x = Ellipsis"),
        ("x = 'a'", "x = a"),
        ("[a, [b]]", "[[a], b]"),
        ("a < b < c", "a < (b < c)"),
        ("a or b or c", "a or (b or c)"),
        ("try:\n  a\nfinally:\n  b", "try:\n  a\nexcept:\n  b"),
        ("if a:\n  b\nc", "if a:\n  b\nelse:\n  c"),
        ("x = 'text'", "x = 'text', "),
        ("f'{a}b'", "'{a}b'"),
        ("f'{a!r}'", "f'{a}'"),
        ("x: int", "x: int = None"),
        ("def f(a, /): 1", "def f(a): 1"),
    ],
)
def test_trees_that_look_alike_differ(one, other):
    assert of(one) != of(other)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.name)
def test_a_source_that_python_writes_anew_means_the_same(path):
    """No comment and no line is where it was, and every text is quoted anew."""
    tree = ast.parse(path.read_text())
    assert of(ast.unparse(tree)) == tree_digest(tree)


def test_as_many_sources_differ_as_by_pythons_own_text_of_their_trees():
    trees = [tree for path in SOURCES if len((tree := ast.parse(path.read_text())).body) > 1]  # beside the docstring
    assert len(set(map(tree_digest, trees))) == len({ast.dump(tree) for tree in trees}) > 40


def test_a_field_that_a_later_version_of_python_adds_does_not_count_while_it_is_empty():
    class FunctionDef(ast.FunctionDef):
        _fields = (*ast.FunctionDef._fields, "of_later")

    tree = ast.parse("def f(): return 1")
    (defined,) = tree.body
    later = FunctionDef(**{field: getattr(defined, field) for field in defined._fields})
    for of_later, same in (([], True), (None, True), (["x"], False)):
        later.of_later = of_later
        assert (tree_digest(ast.Module([later], [])) == tree_digest(tree)) is same
