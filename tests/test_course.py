"""The course in docs/course: all that it shows is run, and its links lead somewhere."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import doc_examples
import pytest
from doc_examples import Section

COURSE = Path(__file__).resolve().parent.parent / "docs" / "course"
PAGES = sorted(COURSE.glob("*.md"))
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
