"""How the command line reads ids: strictly, and lines without a loss."""

from __future__ import annotations

from pathlib import Path

import pytest
from cli_runs import fail, pybpe_cli, succeed

import pybpe

TEXT = b"the cat sat on the mat, the other cat sat on that mat\n" * 50


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("ids") / "model.pybpe"
    pybpe.train([TEXT], 300).save(path)
    return path


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (b"[97,98]", b"ab"),
        (b"[97,98]\n", b"ab"),
        (b" [\n  97,\n  98\n]\n\n[99]\r\n", b"abc"),
        (b"[97]\n[]\n[98]\n", b"ab"),
        (b"[]", b""),
        (b"", b""),
        (b"\n\n", b""),
    ],
)
def test_json_lists_are_read(model: Path, given: bytes, text: bytes) -> None:
    assert succeed("decode", model, "-f", "json", stdin=given) == text


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"97 98", "line 1: a JSON list of ids belongs here, not 97"),
        (b"[97,98", "line 1, column 7 is no valid JSON"),
        (b"[97 98]", "line 1, column 5 is no valid JSON"),
        (b"[97,,98]", "line 1, column 5 is no valid JSON"),
        (b"[97,98,]", "is no valid JSON"),
        (b"97,98", "line 1: a JSON list of ids belongs here, not 97"),
        (b"[97]\n[98]]\n", "line 2 has more than one JSON value"),
        (b"[97]\n\n]98[", "line 3, column 1 is no valid JSON"),
        (b"[97][98]", "line 1 has more than one JSON value; one list a line"),
        (b"[\n97]\n[1, [98]]", "line 3, item 2: a list is no id; one list a line"),
        (b"[[97],[98]]", "line 1, item 1: a list is no id; one list a line"),
        (b'["97"]', 'line 1, item 1: "97" is no id'),
        (b"[97.0]", "item 1: 97.0 is no id"),
        (b"[97, true]", "item 2: true is no id"),
        (b"[97, null]", "item 2: null is no id"),
        (b"[-1]", "item 1: -1 is no id"),
        (b"[NaN]", 'item 1: "NaN" is no id'),
        (b'{"ids": [97]}', "line 1: a JSON list of ids belongs here, not an object"),
        (b"[" + b"9" * 5000 + b"]", "thousands of digits"),
        (b"[" * 100_000, "line 1: lists within lists"),
        (b"[97]\n[\xff]", "line 2 is not UTF-8"),
        (b"[97, 4294967296]", "4294967296"),
    ],
)
def test_what_is_no_json_list_of_ids_is_refused(
    model: Path, given: bytes, said: str
) -> None:
    assert said in fail("decode", model, "-f", "json", stdin=given)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"97 98\n99 x\n", "line 2, item 2: 'x' is no id"),
        (b"97,98", "line 1, item 1: '97,98' is no id"),
        (b"-1", "'-1' is no id"),
        (b"+97", "'+97' is no id"),
        (b"9_7", "'9_7' is no id"),
        (b"9" * 5000, "is no id"),
    ],
)
def test_what_is_no_text_of_ids_is_refused(
    model: Path, given: bytes, said: str
) -> None:
    assert said in fail("decode", model, stdin=given)
    result = pybpe_cli("decode", model, "--lines", stdin=given)
    assert result.status == 1
    assert said in result.err


@pytest.mark.parametrize("form", ["text", "json"])
@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"\n",
        b"\n\n",
        b"the cat",
        b"the cat\n",
        b"the cat\r\nthat mat\r\n\r\n",
        b"\r",
        b"a\rb\n\r\n\rc",
        b"the cat\n\n\nthat \xff\x00\x0b\x0c\x85mat \xe2\x80\xa8 \n ",
    ],
)
def test_lines_come_back_exactly(model: Path, form: str, given: bytes) -> None:
    ids = succeed("encode", model, "--lines", "-f", form, stdin=given)
    assert ids.count(b"\n") == given.count(b"\n")
    assert succeed("decode", model, "--lines", "-f", form, stdin=ids) == given


def test_many_lines_come_back_in_files(model: Path) -> None:
    given, ids = model.with_name("given"), model.with_name("ids")
    back = model.with_name("back")
    # Several batches.
    given.write_bytes((TEXT + b"mat\r\n") * 4000)
    succeed("encode", model, given, "--lines", "-o", ids)
    succeed("decode", model, "-i", ids, "--lines", "-o", back)
    assert back.read_bytes() == given.read_bytes()


def test_decoding_lines_names_the_line(model: Path) -> None:
    message = fail("decode", model, "--lines", stdin=b"9999 97\n")
    assert message.startswith("pybpe: line 1: ")
    assert "9999" in message
    result = pybpe_cli("decode", model, "--lines", "-f", "json", stdin=b"[97]\n\n[98]")
    assert result.status == 1
    assert "line 2 is empty" in result.err
    assert "[]" in result.err
    for options in (["--lines", "-f", "uint16"], ["97", "--lines"]):
        fail("decode", model, *options, status=2)
