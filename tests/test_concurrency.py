"""One tokenizer, many threads and processes."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

from pybpe import Tokenizer

TEXTS = [f"hello world {i} {'xyz' * (i % 50)}\n" * (i % 9 + 1) for i in range(400)]


def make() -> Tokenizer:
    merges = [(104, 101), (108, 108), (256, 257), (258, 111), (120, 121), (260, 122)]
    return Tokenizer.from_merges(
        merges, pattern="cl100k", special_tokens=["<|a|>", "<|b|>"]
    )


def encode_all(tok: Tokenizer) -> list[list[int]]:
    return [tok.encode(text) for text in TEXTS]


def test_eight_threads_share_a_tokenizer() -> None:
    tok = make()
    want = encode_all(tok)
    fresh = make()
    start = threading.Barrier(8)

    def work(k: int) -> bool:
        start.wait()
        good = True
        for i in range(k, 2 * len(TEXTS), 3):
            text = TEXTS[i % len(TEXTS)]
            special = {"<|a|>"} if i % 2 else {"<|b|>"}
            good &= fresh.encode(text, allowed_special=special) == want[i % len(TEXTS)]
            good &= fresh.decode(want[i % len(TEXTS)]) == text
        return good

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(work, range(8)))


@pytest.mark.parametrize(
    "method",
    [
        pytest.param(
            "fork",
            marks=[
                pytest.mark.skipif(
                    "fork" not in multiprocessing.get_all_start_methods(),
                    reason="this system has no fork",
                ),
                # 3.12 and newer warn of forking a process that has threads.
                pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
            ],
        ),
        "spawn",
    ],
)
def test_processes(method: str) -> None:
    tok = make()
    want = encode_all(tok)
    context = multiprocessing.get_context(method)
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        for result in pool.map(encode_all, [tok, tok, tok]):
            assert result == want
    assert encode_all(tok) == want


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_fork_while_other_threads_encode() -> None:
    # A lock held by another thread at the fork would stop the child for ever.
    tok = make()
    want = encode_all(tok)
    stop = threading.Event()

    def keep_encoding() -> None:
        while not stop.is_set():
            tok.encode_batch(TEXTS, num_threads=2)

    threads = [threading.Thread(target=keep_encoding) for _ in range(3)]
    for thread in threads:
        thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                good = encode_all(tok) == want
                good &= tok.encode_batch(TEXTS, num_threads=2) == want
                os._exit(0 if good else 1)
            _, status = os.waitpid(child, 0)
            assert os.waitstatus_to_exitcode(status) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.skipif(
    "ASAN_OPTIONS" in os.environ, reason="the sanitizer keeps what is freed"
)
def test_a_huge_text_leaves_no_memory_behind() -> None:
    # In a process of its own: what an allocator keeps depends on what was freed before.
    code = """
import os
import subprocess
from pathlib import Path
from pybpe import Tokenizer

def resident():
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * os.sysconf("SC_PAGE_SIZE")

tok = Tokenizer.from_merges([(97, 97), (256, 256)], pattern=None)
tok.encode("warm")
before = resident()
assert tok.count("a" * 8_000_000) == 2_000_000
print(resident() - before)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    )
    assert int(done.stdout) < 32 << 20


@pytest.mark.skipif(sys.platform == "win32", reason="ru_maxrss is Unix's")
def test_memory_stays_flat_over_many_distinct_texts() -> None:
    import resource

    tok = make()
    for i in range(20_000):
        tok.encode(f"word{i} and{i * 7} more{i * 13}")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for i in range(20_000, 120_000):
        tok.encode(f"word{i} and{i * 7} more{i * 13}")
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    unit = 1 if sys.platform == "darwin" else 1024  # bytes in what ru_maxrss counts
    assert grown * unit < 8 << 20
