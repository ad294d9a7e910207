"""The training functions: options, corpora of every shape, reports, interruptions."""

from __future__ import annotations

import itertools
import os
import random
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import reference

import pybpe
from pybpe import _counting
from pybpe.split import Stage
from pybpe.training import Progress

GPT4 = "gpt4"
TEXTS = ["low lower lowest", "new newer newest", "\u6f22\u5b57 \u6f22\u5b57", "1234 12"]


def learnt(tok: pybpe.Tokenizer) -> list[bytes]:
    special = set(tok.special_tokens.values())
    return [tok.token_bytes(i) for i in range(256, tok.vocab_size) if i not in special]


def report_of(tok: pybpe.Tokenizer) -> pybpe.TrainingReport:
    assert tok.training_report is not None
    return tok.training_report


# ---------------------------------------------------------------- what comes out


def test_a_small_corpus() -> None:
    tok = pybpe.train(["hello hello"], 260, pattern=GPT4, special_tokens=["<|end|>"])
    assert learnt(tok) == [b"el", b"hel", b"lo"]
    assert tok.special_tokens == {"<|end|>": 259}
    assert tok.encode("hello") == [257, 258]
    assert report_of(tok) == pybpe.TrainingReport(
        documents=1,
        bytes=11,
        pretokens=2,
        distinct_pretokens=2,
        merges=3,
        vocab_size_asked=260,
        vocab_size=260,
        stop_reason="vocab_size reached",
    )


def test_the_report_is_provenance_and_survives_saving() -> None:
    tok = pybpe.train(TEXTS, 270, tie_break="first", byte_order="gpt2")
    provenance = pybpe.Tokenizer.from_bytes(tok.to_bytes())._model.provenance
    assert provenance == {
        "trained_by": f"pybpe {pybpe.__version__}",
        "tie_break": "first",
        "byte_order": "gpt2",
        "min_frequency": 1,
        **report_of(tok)._asdict(),
    }
    assert pybpe.Tokenizer.from_bytes(tok.to_bytes()).training_report is None


@pytest.mark.parametrize("byte_order", ["identity", "gpt2"])
def test_all_bytes_are_tokens(byte_order: str) -> None:
    tok = pybpe.train(["hello world"], 259, byte_order=byte_order)
    assert tok.decode(tok.encode("hello zoo")) == "hello zoo"
    assert sorted(tok.token_bytes(i)[0] for i in range(256)) == list(range(256))
    space = tok.encode_ordinary(" ")
    assert space == ([0x20] if byte_order == "identity" else [220])


@pytest.mark.parametrize("texts", [[], [""], ["a"], ["", "", "b"]])
def test_nothing_to_merge(texts: list[str]) -> None:
    tok = pybpe.train(texts, 300, special_tokens=["<s>"])
    assert tok.vocab_size == 257
    assert tok.special_tokens == {"<s>": 256}
    assert report_of(tok).stop_reason == "nothing left to merge"
    assert report_of(tok).vocab_size_asked == 300
    assert report_of(tok).documents == len(texts)


def test_stopping_early_says_why() -> None:
    tok = pybpe.train(["ab"], 300)
    assert (learnt(tok), report_of(tok).stop_reason) == (
        [b"ab"],
        "nothing left to merge",
    )
    tok = pybpe.train(["   "], 260, pattern=None)
    assert learnt(tok) == [b"  ", b"   "]
    tok = pybpe.train(["hello world"] * 5, 30_000)
    assert report_of(tok).vocab_size == tok.vocab_size == 256 + 4 + 5
    # No vocabulary is filled up with pairs that do not occur.
    tok = pybpe.train(["abababab"], 300, pattern=None)
    assert learnt(tok) == [b"ab", b"abab", b"abababab"]


def test_tokens_of_more_than_4_gb_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from pybpe import training

    monkeypatch.setattr(training, "_MAX_TOKEN_DATA", 300)
    with pytest.raises(pybpe.TrainingError, match="use a pattern that splits"):
        pybpe.train(["a" * 64], 300, pattern=None)
    assert pybpe.train(["a" * 16], 300, pattern=None).vocab_size == 260


def test_no_line_is_too_long() -> None:
    tok = pybpe.train(["a" * 5000], 300)
    assert report_of(tok).bytes == 5000
    assert max(map(len, learnt(tok))) == 5000
    letters = "".join(random.Random(7).choices("abcdefgh", k=70_000))
    assert report_of(pybpe.train([letters], 500)).pretokens == 1


def test_min_frequency() -> None:
    texts = ["ab ab ab cd cd ef"]
    tok = pybpe.train(texts, 300, pattern=GPT4, min_frequency=2)
    assert learnt(tok) == [b"ab", b" c", b" ab", b" cd"]
    assert report_of(tok).stop_reason == "min_frequency"
    tok = pybpe.train(texts, 300, pattern=GPT4, min_frequency=4)
    assert learnt(tok) == []
    assert report_of(tok).stop_reason == "min_frequency"
    tok = pybpe.train(["abab"], 300, pattern=None, min_frequency=2)
    assert learnt(tok) == [b"ab"]
    assert report_of(tok).stop_reason == "min_frequency"


def test_special_tokens_are_cut_out_before_splitting() -> None:
    tok = pybpe.train(["x218y 218"] * 3, 400, special_tokens=["218"])
    assert learnt(tok) == []
    assert report_of(tok).distinct_pretokens == 3  # "x", "y", " "
    assert tok.encode("x218y 218", allowed_special="all") == [120, 256, 121, 32, 256]
    # Leftmost, then longest; what lies between two is split as a text of its own.
    tok = pybpe.train(["<i>x<i>xy  <b>  z"], 400, special_tokens=["<i>", "<b>", "<i>x"])
    assert report_of(tok).pretokens == len(["y", "  ", " ", " z"])
    assert learnt(tok) == [b"  ", b" z"]


def test_special_tokens_of_any_bytes_in_the_order_given() -> None:
    special: list[str | bytes] = ["z z", b"\xff\x00", "\n", "a"]
    tok = pybpe.train(["banana"], 260, special_tokens=special)
    assert list(tok.special_tokens.items()) == [
        ("z z", 256),
        (b"\xff\x00", 257),
        ("\n", 258),
        ("a", 259),
    ]
    assert learnt(tok) == []  # nothing is left of "banana" but single letters


def test_surrogates_and_invalid_bytes() -> None:
    pair, lone = "\ud83d\udc4d", "\ud83d"
    assert pybpe.train([pair], 300) == pybpe.train(["\U0001f44d"], 300)
    assert pybpe.train([lone], 300) == pybpe.train(["\ufffd"], 300)
    tok = pybpe.train([b"\xff\xfe\xff\xfe"], 257, pattern=None)
    assert learnt(tok) == [b"\xff\xfe"]
    assert pybpe.train([bytearray(b"abab")], 260) == pybpe.train(["abab"], 260)


# ---------------------------------------------------------------- wrong use


def refuse(message: str, error: type[Exception] = ValueError, **options: Any) -> None:
    arguments = {"texts": ["ab"], "vocab_size": 300, **options}
    with pytest.raises(error, match=message):
        pybpe.train(**arguments)


def test_vocab_size_is_checked() -> None:
    refuse("vocab_size must be between 256 and 16777215.*got 255", vocab_size=255)
    refuse(
        "between 258 and .*2 special tokens are always there.*got 257",
        vocab_size=257,
        special_tokens=["a", "b"],
    )
    refuse("got 16777216", vocab_size=2**24)
    refuse("got 1000000000000000000000", vocab_size=10**21)
    refuse("vocab_size must be an int, got True", TypeError, vocab_size=True)
    refuse("vocab_size must be an int, got 300.0", TypeError, vocab_size=300.0)
    refuse("vocab_size must be an int, got '300'", TypeError, vocab_size="300")


def test_other_options_are_checked() -> None:
    refuse("tie_break must be one of lowest, first, got 'last'", tie_break="last")
    refuse("tie_break must be one of", tie_break=["first"])
    refuse("byte_order must be one of identity, gpt2, got 'x'", byte_order="x")
    refuse("min_frequency must be between 1 and .*got 0", min_frequency=0)
    refuse("min_frequency must be an int, got None", TypeError, min_frequency=None)
    refuse("num_threads must be between 1 and 1024.*got 0", num_threads=0)
    refuse("num_threads must be an int, got False", TypeError, num_threads=False)
    refuse("unknown split pattern 'gpt5'", pattern="gpt5")
    refuse(r"split pattern", pattern="(")
    refuse("special_tokens", TypeError, special_tokens="<s>")
    refuse("special_tokens", TypeError, special_tokens={"<s>": 3})
    refuse("got a set: their order", TypeError, special_tokens={"<s>"})
    refuse("progress must be a function, got 3", TypeError, progress=3)
    refuse("are for train_from_counts", TypeError, texts={"ab": 3})
    refuse("special_tokens", TypeError, special_tokens=5)
    refuse(r"special_tokens\[1\] is empty", special_tokens=["a", ""])
    refuse(r"special_tokens\[1\], b'a', is there twice", special_tokens=["a", b"a"])
    refuse(r"special_tokens\[0\] must be str or bytes", TypeError, special_tokens=[1])


@pytest.mark.parametrize("texts", ["one str", b"bytes", bytearray(b"x"), 5, None])
def test_texts_must_be_many(texts: Any) -> None:
    with pytest.raises(TypeError, match="texts must be a list of texts, got"):
        pybpe.train(texts, 300)


def test_a_wrong_item_is_named() -> None:
    with pytest.raises(TypeError, match=r"texts\[0\] must be .*NoneType"):
        pybpe.train([None], 300)  # type: ignore[list-item]
    with pytest.raises(TypeError, match=r"texts\[2\] must be .*int"):
        pybpe.train(["a", b"x", 7], 300)  # type: ignore[list-item]


class Stop(BaseException):
    pass


@pytest.mark.parametrize("num_threads", [1, 3])
@pytest.mark.parametrize("error", [Stop("no"), KeyboardInterrupt(), ValueError("own")])
def test_what_the_iterable_raises_comes_out(
    error: BaseException, num_threads: int
) -> None:
    def texts() -> Iterator[str]:
        yield "ab" * 10
        yield "ab" * 1_000_000
        yield "cd" * 1_000_000
        raise error

    before = threading.active_count()
    with pytest.raises(type(error)) as caught:
        pybpe.train(texts(), 300, num_threads=num_threads)
    assert caught.value is error
    assert threading.active_count() == before


@pytest.mark.parametrize("phase", ["count", "merge"])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_what_progress_raises_comes_out(phase: str, num_threads: int) -> None:
    error = Stop("enough")

    def progress(state: Progress) -> None:
        if state.phase == phase:
            raise error

    before = threading.active_count()
    with pytest.raises(Stop) as caught:
        pybpe.train(TEXTS, 300, num_threads=num_threads, progress=progress)
    assert caught.value is error
    assert threading.active_count() == before


def test_a_thread_s_error_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: object, *_: object) -> None:
        raise MemoryError("as if")

    monkeypatch.setattr(_counting.Counts, "add_batch", broken)
    with pytest.raises(MemoryError, match="as if"):
        pybpe.train(["ab" * 300_000] * 30, 300, num_threads=2)


@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("phase", ["count", "merge"])
def test_ctrl_c(phase: str, num_threads: int) -> None:
    # A signal that arrives while the core works, in a process of its own.
    import subprocess
    import sys

    program = """
import os, random, signal, threading, pybpe
signal.signal(signal.SIGINT, signal.default_int_handler)  # nohup's children ignore it
def interrupt():
    os.kill(os.getpid(), signal.SIGINT)
def progress(state):
    if state.phase == PHASE and state.done > 0:
        threading.Timer(0.05, interrupt).start()
texts = ("".join(random.choices("abcdefgh ", k=50_000)) for _ in range(N))
try:
    pybpe.train(texts, 2_000_000, num_threads=THREADS, progress=progress)
except KeyboardInterrupt:
    print("interrupted")
"""
    # Counting would go on for ever; merging begins after a moment and takes minutes.
    sizes = {"count": "10**9", "merge": "40"}
    program = program.replace("PHASE", repr(phase)).replace("N)", sizes[phase] + ")")
    program = program.replace("THREADS", str(num_threads))
    if phase == "merge":
        program = program.replace("state.done > 0", "True")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=600
    )
    assert (done.stdout, done.returncode) == ("interrupted\n", 0), done.stderr


def test_splits_without_tables_run_where_ctrl_c_arrives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Python runs them: another thread would go on to the end of a text of any size.
    tok = pybpe.train(["ab ab"], 258, pattern=r"(?<=a)b|\s+|\S")
    assert not tok.split.compiled
    threads = set()
    match_spans = Stage.match_spans

    def watched(self: Stage, text: str) -> list[tuple[int, int]]:
        threads.add(threading.current_thread())
        return match_spans(self, text)

    monkeypatch.setattr(Stage, "match_spans", watched)
    paths = [tmp_path / f"{number}.txt" for number in range(4)]
    for path in paths:
        path.write_bytes(b"ab " * 10_000)
    pybpe.train_from_files(paths, 300, pattern=tok.split, num_threads=3)
    assert threads == {threading.main_thread()}
    threads.clear()
    tok.encode_files(paths, tmp_path / "out", separator=None, num_threads=3)
    assert threads == {threading.main_thread()}


def test_progress_is_called_in_both_phases_and_not_too_often(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from pybpe import _training_report

    # A clock of the test's own, on which 60 ms pass whenever it is looked at.
    now = 0.0

    def monotonic() -> float:
        nonlocal now
        now += 0.06
        return now

    monkeypatch.setattr(_training_report, "time", SimpleNamespace(monotonic=monotonic))
    seen: list[tuple[float, Progress]] = []
    texts = ["the quick brown fox " * 100_000] * 8
    tok = pybpe.train(
        texts,
        300,
        num_threads=1,
        progress=lambda state: seen.append((now, state)),
    )
    count = [state for _, state in seen if state.phase == "count"]
    merge = [state for _, state in seen if state.phase == "merge"]
    assert [state for _, state in seen] == count + merge
    assert count[0] == Progress("count", 0, None, "bytes")
    assert count[-1] == Progress("count", 16_000_000, 16_000_000, "bytes")
    assert merge[0] == Progress("merge", 0, 44, "merges")
    made = report_of(tok).merges
    assert merge[-1] == Progress("merge", made, made, "merges")
    done = [state.done for state in count]
    assert done == sorted(done)
    # The last of each phase may come at any time; the others as soon as 0.1 s are over.
    times = [moment for moment, state in seen if state.phase == "count"][:-1]
    assert len(times) > 3
    for a, b in itertools.pairwise(times):
        assert b - a == pytest.approx(0.12)


# ---------------------------------------------------------------- any order, any thread


def test_threads_hash_seeds_and_order_do_not_matter(tmp_path: Path) -> None:
    import subprocess
    import sys

    random_ = random.Random(1)
    words = ["".join(random_.choices("abc \u6f22", k=12)) for _ in range(5000)]
    path = tmp_path / "corpus.txt"
    path.write_text("\n".join(words), encoding="utf-8")
    program = (
        "import sys, pybpe; lines = open(sys.argv[1], encoding='utf-8').readlines();"
        "print([pybpe.train(lines * 40, 600, num_threads=n, tie_break=tie).fingerprint"
        " for n in (1, 4, 16) for tie in ('first', 'lowest')])"
    )
    prints = set()
    for seed in ("0", "1"):
        done = subprocess.run(
            [sys.executable, "-c", program, str(path)],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        )
        prints.add(done.stdout)
    assert len(prints) == 1
    found = prints.pop().strip("[]\n").split(", ")
    assert len(set(found[0::2])) == len(set(found[1::2])) == 1
    # With ties "lowest" even the order of the texts is nothing to go by.
    random_.shuffle(words)
    shuffled = pybpe.train([word + "\n" for word in words], 600)
    assert shuffled == pybpe.train([word + "\n" for word in sorted(words)], 600)


def test_large_and_small_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    # Texts above PORTION are streamed, and with tiny portions nearly all are.
    random_ = random.Random(3)
    texts = [
        "".join(random_.choices("ab 1\n", k=random_.choice([0, 5, 200, 3000])))
        for _ in range(60)
    ]
    want = pybpe.train(texts, 500, tie_break="first", num_threads=1)
    for portion, block in ((1, 1), (100, 7), (1000, 64), (10**6, 10**6)):
        monkeypatch.setattr(_counting, "PORTION", portion)
        monkeypatch.setattr(_counting, "BLOCK", block)
        for num_threads in (1, 3):
            tok = pybpe.train(texts, 500, tie_break="first", num_threads=num_threads)
            assert tok == want, (portion, block, num_threads)
            assert tok.training_report == want.training_report


# ---------------------------------------------------------------- files


def test_files(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in ("a", "b", "empty", "c")]
    contents = [b"low lower \xff", "\u6f22\u5b57 low".encode(), b"", b"lowest\r\n"]
    for path, content in zip(paths, contents, strict=True):
        path.write_bytes(content)
    want = pybpe.train(contents, 300, tie_break="first")
    seen: list[Progress] = []
    for num_threads in (None, 1, 2):
        tok = pybpe.train_from_files(
            [str(paths[0]), *paths[1:]],
            300,
            tie_break="first",
            num_threads=num_threads,
            progress=seen.append,
        )
        assert tok == want
        assert tok.training_report == want.training_report
    assert seen[0] == Progress("count", 0, sum(map(len, contents)), "bytes")


def test_wrong_files(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="nowhere"):
        pybpe.train_from_files([tmp_path / "nowhere"], 300)
    with pytest.raises(pybpe.CorpusError, match="the folder holds no files"):
        pybpe.train_from_files([tmp_path], 300)
    for paths in ("nowhere.txt", tmp_path / "nowhere"):  # a single one will do
        with pytest.raises(FileNotFoundError, match="nowhere"):
            pybpe.train_from_files(paths, 300)
    with pytest.raises(
        TypeError, match=r"paths\[0\] must be str or os\.PathLike, got 3"
    ):
        pybpe.train_from_files([3], 300)  # type: ignore[list-item]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_pipes_are_read_once_and_in_order(tmp_path: Path) -> None:
    pipe, before, after = tmp_path / "pipe", tmp_path / "before", tmp_path / "after"
    before.write_bytes(b"zz")
    after.write_bytes(b"yy")
    os.mkfifo(pipe)
    content = b"abc " * 50_000
    writer = threading.Thread(target=pipe.write_bytes, args=(content,))
    writer.start()
    tok = pybpe.train_from_files([before, pipe, after], 300, tie_break="first")
    writer.join()
    want = pybpe.train([b"zz", content, b"yy"], 300, tie_break="first")
    assert tok == want
    assert tok.training_report == want.training_report


# ---------------------------------------------------------------- counts


def test_train_from_counts() -> None:
    counts: dict[str | bytes, int] = {"abc": 3, b"abd": 2, "": 7, "xy": 0, "abab": 1}
    tok = pybpe.train_from_counts(counts, 300, tie_break="first", pattern=None)
    words = [(b"abc", 3), (b"abd", 2), (b"abab", 1)]
    assert tok.merges == reference.train(words, 44, tie_break="first")[0]
    assert tok.pattern is None
    report = report_of(tok)
    assert (report.documents, report.bytes, report.pretokens) == (0, 19, 6)


def test_no_counts() -> None:
    assert pybpe.train_from_counts({}, 300).vocab_size == 256


def test_pretokens_are_taken_as_they_are() -> None:
    tok = pybpe.train_from_counts({"a b": 2, "<s>": 2}, 262, special_tokens=["<s>"])
    assert learnt(tok) == [b" b", b"<s", b"a b", b"<s>"]


def test_many_counts_go_in_portions() -> None:
    counts = {f"{i:06x}": 1 + i % 3 for i in range(150_000)}
    tok = pybpe.train_from_counts(counts, 256)
    report = report_of(tok)
    assert report.distinct_pretokens == 150_000
    assert report.pretokens == sum(counts.values())


def test_wrong_counts() -> None:
    def refuse(counts: Any, error: type[Exception], message: str) -> None:
        with pytest.raises(error, match=message):
            pybpe.train_from_counts(counts, 300)

    refuse([("a", 1)], TypeError, "counts must be a mapping.*got list")
    refuse({1: 1}, TypeError, "a pretoken in counts must be str or bytes, got int")
    refuse({"a": -1}, ValueError, r"counts\['a'\] must be between 0 .*got -1")
    refuse({"a": 2**64}, ValueError, r"counts\['a'\]")
    refuse({"a": 1.5}, TypeError, r"counts\['a'\] must be an int, got 1.5")
    refuse({"a": True}, TypeError, r"counts\['a'\] must be an int, got True")
    refuse({"a": 2**63, "b": 2**63}, pybpe.TrainingError, r"2\*\*64 or more")
    refuse({"ab": 2**63}, pybpe.TrainingError, r"2\*\*63 or more")


def test_numpy_integers_are_integers() -> None:
    np = pytest.importorskip("numpy")
    tok = pybpe.train_from_counts({"ab": np.int64(3)}, np.uint16(257))
    assert learnt(tok) == [b"ab"]
