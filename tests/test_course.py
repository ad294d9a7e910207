"""The course, and docs/inspection.md: all they show is run; links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import doc_examples
import pytest
from doc_examples import Section

COURSE = Path(__file__).resolve().parent.parent / "docs" / "course"
PAGES = [*sorted(COURSE.glob("*.md")), COURSE.parent / "inspection.md"]
SECTIONS = [section for page in PAGES for section in doc_examples.sections(page)]


@pytest.mark.parametrize(
    "section", SECTIONS, ids=lambda section: f"{section.page.stem}: {section.title}"
)
def test_section(
    section: Section,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
    data_path: Callable[[str], Path],
) -> None:
    for package in section.packages:
        pytest.importorskip(package)
    doc_examples.prepare(section, tmp_path, data_path)
    monkeypatch.chdir(tmp_path)

    def printed() -> str:
        out, err = capfd.readouterr()
        return out + err

    def output(command: str) -> str:
        return doc_examples.in_process(command, printed)

    wrong = doc_examples.run(section, output)
    assert wrong == "", wrong


def test_links_lead_somewhere() -> None:
    for page in PAGES:
        targets = re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        missing = [
            target
            for target in targets
            if "://" not in target and not (page.parent / target).exists()
        ]
        assert targets, page
        assert missing == [], page


PAGE = """# Page

## One

```python
>>> 1 + 1
{two}

```

```console
$ echo a b
{echo}
$ false
[exit status 1]
```

## Two

Nothing to run.

```python
this is not run
```
"""


@pytest.mark.parametrize(
    ("two", "echo", "message"),
    [
        ("2", "a b", ""),
        ("3", "a b", "Expected:\n    3\n"),
        ("2", "a", "expected:\na\n"),
    ],
)
def test_a_page_that_says_something_else_is_found_out(
    tmp_path: Path, two: str, echo: str, message: str
) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.format(two=two, echo=echo))
    (section,) = doc_examples.sections(page)
    assert section.title == "One"
    wrong = doc_examples.run(section, doc_examples.in_shell)
    assert message in wrong
    assert bool(wrong) == bool(message)


def test_what_a_section_needs_is_seen_in_its_code(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "## A\n\nr50k_base\n\n```python\n>>> import tiktoken\n\n```\n"
        "```console\n$ pybpe inspect cl100k_base 'a b' *.md\n```\n"
    )
    (section,) = doc_examples.sections(page)
    assert (section.data, section.packages) == (["cl100k_base"], ["tiktoken"])


def test_every_section_is_run_somewhere() -> None:
    """Most need nothing of others; those that do, say so by a skip."""
    free = [s for s in SECTIONS if not s.data and not s.packages]
    assert len(SECTIONS) >= 24
    assert len(free) >= 10
