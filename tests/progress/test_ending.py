"""The last lines of a run."""

from ranktrial.progress.ending import conclusions, ending
from ranktrial.reports.writing.content import Figure, Items, Paragraph, Section, Span
from ranktrial.reports.writing.markdown import document


def summary(*sections):
    return document("tiny", [Paragraph("2 systems"), Section("Comparisons", [Paragraph("How to read."), *sections])])


def answers(*sentences):
    return Items([(Span("yes, higher", "better"), f" {sentence}") for sentence in sentences])


def test_the_question_and_the_answers_of_the_first_comparison_as_plain_text():
    question = "Does a*b beat `c` in nDCG@10?"
    first = [
        Paragraph(Span(question, "strong")),
        answers("Here.", "Over.", "New *x*.", "Remark."),
        Figure("a.svg", "", "a"),
    ]
    second = [Paragraph(Span("Does d beat c?", "strong")), answers("Not this.")]
    page = summary(Section("a against b", first, "a"), Section("d against c", second, "d"))
    assert conclusions(page) == [question, "Here.", "Over.", "New *x*.", "Not this."]


def test_of_several_in_one_figure_the_first():
    parts = [Section(f"Does {name} beat c?", [answers(f"{name} here.")], name) for name in ("a", "b")]
    page = summary(Section("2 systems against c", [Figure("both.svg", "", "both"), *parts], "both"))
    assert conclusions(page) == ["Does a beat c?", "a here.", "b here."]


def test_of_many_comparisons_some_have_a_sentence_and_all_are_counted():
    parts = [Section(f"Does s{name} beat c?", [answers(f"s{name} here.", "Over.")], name) for name in "0123456"]
    said = conclusions(summary(*parts))
    assert said[:3] == ["Does s0 beat c?", "s0 here.", "Over."]
    assert said[3:] == [*(f"s{name} here. Over." for name in "1234"), "2 more comparisons: see the report"]


def test_without_comparisons_there_is_nothing_to_say():
    assert conclusions(document("tiny", [Paragraph("2 systems")])) == []


def test_the_last_line_names_the_pages_that_there_are(tmp_path):
    results = tmp_path / "tiny"
    assert ending(results) == []
    results.mkdir()
    (results / "report.html").touch()
    (results / "summary.md").write_text(summary(Section("Does a beat c?", [answers("Here.")], "a")))
    where = f"{results}/report.html, {results}/summary.md contain the results"
    assert ending(results) == ["Does a beat c?", "Here.", where]
