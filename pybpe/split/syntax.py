"""Parsing a split pattern by the rules of its dialect.

The dialects are named after the engines whose tokenizers use them: ``rust`` (tiktoken:
fancy-regex over Rust's regex), ``oniguruma`` (Hugging Face tokenizers) and ``regex``
(the Python package, in its default mode V0: minbpe). They agree on most of what
tokenizers write and differ quietly in the rest; what differs is decided here and in
``scanner`` and ``brackets``, and the tree that comes out knows no dialect any more.

What a dialect reads in a way that its users hardly expect, or that its own versions do
not agree on, is refused rather than guessed.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, NoReturn

from pybpe.split import charset
from pybpe.split.ast import (
    EMPTY,
    Atomic,
    Chars,
    Choice,
    Edge,
    Look,
    Node,
    Repeat,
    Sequence,
    can_be_empty,
    expanded_size,
)
from pybpe.split.brackets import (
    MAX_NESTING,
    holds_multi_fold,
    parse_brackets,
    refuse_cased_set,
)
from pybpe.split.patterns import DIALECTS
from pybpe.split.scanner import Scanner
from pybpe.unicode import fold_orbits, multi_folds

MAX_PATTERN_LENGTH = 20_000
MAX_EXPANDED_SIZE = 50_000
MAX_COUNT = 10_000

START = Edge(end=False)
END = Edge(end=True)


class Flags(NamedTuple):
    """The inline flags that hold at some place of a pattern."""

    ignore_case: bool = False
    dot_all: bool = False
    multi_line: bool = False


def parse(pattern: str, dialect: str) -> Node:
    """Parse a split pattern.

    Args:
        pattern: The pattern.
        dialect: ``"rust"``, ``"oniguruma"`` or ``"regex"``.

    Returns:
        Its tree; it cannot match the empty string.

    Raises:
        ValueError: The pattern is malformed, uses something that is not supported or
            can match the empty string. The message names construct and position.
    """
    if dialect not in DIALECTS:
        raise ValueError(
            f"unknown dialect {dialect!r}; known are {', '.join(DIALECTS)}"
        )
    scanner = Scanner(pattern, dialect)
    if len(pattern) > MAX_PATTERN_LENGTH:
        scanner.refuse(
            f"longer than {MAX_PATTERN_LENGTH:,} characters",
            "use classes and ranges instead of listing text",
            MAX_PATTERN_LENGTH,
        )
    tree = _Parser(scanner).parse()
    if can_be_empty(tree):
        scanner.refuse(
            "the pattern can match the empty string",
            "make a part of every branch obligatory ('+' for '*', no '?')",
            0,
        )
    if expanded_size(tree) > MAX_EXPANDED_SIZE:
        scanner.refuse(
            f"repeat counts multiply to more than {MAX_EXPANDED_SIZE:,} parts",
            "use '+' or '*' instead of large counts",
            0,
        )
    return tree


class _Term(NamedTuple):
    """A parsed part of a sequence and what a quantifier needs to know of it."""

    node: Node
    repeatable: bool = True
    literal: int | None = None


class _Parser:
    """Recursive descent; the nesting is bounded, so that recursion is."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.dialect = scanner.dialect
        self.depth = 0

    def parse(self) -> Node:
        tree = self.choice(Flags())
        if not self.scanner.at_end():  # only ")" stops a choice before the end
            self.scanner.refuse(
                "')' without its '('", r"write '\)' if the character is meant"
            )
        return tree

    def choice(self, flags: Flags) -> Node:
        """Read branches up to the end of the group, which stays unread."""
        branches = []
        at_group_start = True
        while True:
            branch, flags = self.sequence(flags, at_group_start)
            branches.append(branch)
            at_group_start = False
            if not self.scanner.take("|"):
                break
        return choice_of(branches)

    def sequence(self, flags: Flags, at_group_start: bool) -> tuple[Node, Flags]:
        """Read one branch; flags set in it hold for the rest of the group."""
        parts: list[Node] = []
        run: list[int] = []  # literals next to each other, under (?i)
        while self.scanner.peek() not in ("", "|", ")"):
            changed = self.inline_flags(flags, at_group_start and not parts)
            if changed is not None:
                flags = changed
                continue
            start = self.scanner.position
            term = self.term(flags)
            node = self.quantified(term)
            if flags.ignore_case and self.dialect == "oniguruma":
                if node is term.node and term.literal is not None:
                    run.append(term.literal)
                else:
                    run.clear()
                self.refuse_multi_fold(run, term.literal, start)
            parts.append(node)
        return (parts[0] if len(parts) == 1 else Sequence(tuple(parts))), flags

    def refuse_multi_fold(self, run: list[int], last: int | None, start: int) -> None:
        """Refuse literals that Oniguruma's (?i) folds to, or from, another length."""
        folded = fold_orbits()
        tail = tuple(min(folded.get(cp, (cp,))) for cp in run[-3:])  # none is longer
        whole = None if last not in multi_folds() else last
        for length in range(2, len(tail) + 1):
            whole = whole or _whole_of_parts().get(tail[-length:])
        if whole is not None:
            parts = "".join(map(chr, multi_folds()[whole]))
            self.scanner.refuse(
                f"Oniguruma's (?i) takes {chr(whole)!r} and {parts!r} for the same",
                "write both cases of each letter as a class and leave (?i) out",
                start,
            )

    def inline_flags(self, flags: Flags, at_group_start: bool) -> Flags | None:
        """Read ``(?i)`` or a comment if one is next; None if none is."""
        scanner = self.scanner
        start = scanner.position
        if scanner.take("(?#"):
            end = scanner.pattern.find(")", start)
            if end < 0:
                scanner.refuse("a comment without its ')'", "close it", start)
            scanner.position = end + 1
            return flags
        if scanner.peek(2) != "(?":
            return None
        end = start + 2
        while scanner.pattern[end : end + 1].isalpha() or (
            scanner.pattern[end : end + 1] == "-"
        ):
            end += 1
        if scanner.pattern[end : end + 1] != ")" or end == start + 2:
            return None
        if scanner.pattern[start + 2] == "R":
            scanner.refuse("recursion '(?R)'", "write the repeated part in full")
        scanner.position += 2
        changed = self.flags(flags, start)
        scanner.position += 1  # the ")"
        # After other parts, Rust applies flags to all branches that follow, Oniguruma
        # makes a group of them, and `regex` applies them to the whole pattern.
        if not at_group_start and self.dialect != "rust":
            scanner.refuse(
                "flags after the start of a group",
                "write '(?i:...)' around what they are for",
                start,
            )
        return changed

    def flags(self, flags: Flags, start: int) -> Flags:
        """Read flag letters, on and after ``-`` off."""
        scanner = self.scanner
        meaning = {
            "rust": {"i": "ignore_case", "s": "dot_all", "m": "multi_line", "u": ""},
            "oniguruma": {"i": "ignore_case", "m": "dot_all"},
            "regex": {"i": "ignore_case", "s": "dot_all", "m": "multi_line", "u": ""},
        }[self.dialect]
        on = True
        while (char := scanner.peek()) not in (")", ":"):
            at = scanner.position
            scanner.position += 1
            if char == "-" and on:
                on = False
                continue
            name = meaning.get(char)
            if name is None or (name == "" and not on):
                scanner.refuse(
                    f"flag {char!r} in '{scanner.pattern[start : at + 1]}'",
                    f"this dialect has here: {' '.join(meaning)}",
                    at,
                )
            if name:
                flags = flags._replace(**{name: on})
        return flags

    def term(self, flags: Flags) -> _Term:
        """Read one part, without its quantifier."""
        scanner = self.scanner
        start = scanner.position
        char = scanner.next()
        if char == "(":
            return self.group(flags, start)
        if char == "[":
            ranges, negated = parse_brackets(scanner, flags.ignore_case)
            if (
                flags.ignore_case
                and self.dialect == "oniguruma"
                and not negated
                and holds_multi_fold(ranges)
            ):
                scanner.refuse(
                    "a class under (?i) with a character that folds to several",
                    "leave (?i) out here and write both cases",
                    start,
                )
            return _Term(Chars(ranges))
        if char == ".":
            everything = charset.complement(())
            newline = () if flags.dot_all else charset.NEWLINE
            return _Term(Chars(charset.difference(everything, newline)))
        if char in "^$":
            return _Term(self.line_edge(char, flags), repeatable=False)
        if char in "*+?" or (char == "{" and self.counts_ahead()):
            scanner.refuse(
                f"the quantifier {char!r} has nothing to repeat",
                f"write '\\{char}' if the character is meant",
                start,
            )
        if char == "{":
            scanner.refuse("'{' that starts no repeat count", r"write '\{'", start)
        if char == "\\":
            return self.escape(flags, start)
        return self.literal(ord(char), flags)

    def literal(self, codepoint: int, flags: Flags) -> _Term:
        """Return one character, with its other cases if case is ignored."""
        ranges = charset.single(codepoint)
        if flags.ignore_case:
            ranges = charset.fold(ranges)
        return _Term(Chars(ranges), literal=codepoint)

    def escape(self, flags: Flags, start: int) -> _Term:
        """Read an escape outside brackets; the backslash has been read."""
        scanner = self.scanner
        char = scanner.peek()
        if char and char in "AzZbB":
            scanner.position += 1
            return _Term(self.assertion(char), repeatable=False)
        if char and char in "<>" and self.dialect == "rust":
            scanner.refuse(
                f"the word edge '\\{char}'",
                r"write '\b', or the character alone",
                start,
            )
        member = scanner.escape(in_brackets=False, ignore_case=flags.ignore_case)
        if isinstance(member, int):
            return self.literal(member, flags)
        if not member:
            scanner.refuse(
                "a set that holds no character", "write one that does", start
            )
        if flags.ignore_case and self.dialect == "regex":
            refuse_cased_set(scanner, member, start)
        return _Term(Chars(member))

    def line_edge(self, char: str, flags: Flags) -> Node:
        """Return what ``^`` or ``$`` means here."""
        newline = Chars(charset.NEWLINE)
        if char == "$":
            if self.dialect == "oniguruma" or flags.multi_line:
                return look(Choice((END, newline)))
            if self.dialect == "regex":
                return look(Choice((END, Sequence((newline, END)))))
            return END
        after_newline: Node = look(newline, behind=True)
        if self.dialect == "oniguruma":
            # Not after a newline that ends the text.
            after_newline = Sequence((after_newline, look(END, negative=True)))
            return Choice((START, after_newline))
        return Choice((START, after_newline)) if flags.multi_line else START

    def assertion(self, char: str) -> Node:
        r"""Return what ``\A``, ``\z``, ``\Z``, ``\b`` or ``\B`` means here."""
        if char == "A":
            return START
        if char == "z" or (char == "Z" and self.dialect == "regex"):
            return END
        newline = Chars(charset.NEWLINE)
        if char == "Z":
            most = None if self.dialect == "rust" else 1
            return look(Sequence((Repeat(newline, 0, most, "greedy"), END)))
        word = Chars(charset.word(self.dialect))
        not_before = look(word, behind=True, negative=char == "b")
        not_after = look(word, negative=True)
        before, after = look(word, behind=True), look(word)
        if char == "b":
            return Choice(
                (Sequence((before, not_after)), Sequence((not_before, after)))
            )
        not_before = look(word, behind=True, negative=True)
        return Choice((Sequence((before, after)), Sequence((not_before, not_after))))

    def group(self, flags: Flags, start: int) -> _Term:
        """Read a group; its ``(`` has been read."""
        scanner = self.scanner
        self.depth += 1
        if self.depth > MAX_NESTING:
            scanner.refuse(
                f"groups nested deeper than {MAX_NESTING}", "write it flatter", start
            )
        kind = ""
        if scanner.take("?"):
            kind, flags = self.group_kind(flags, start)
        body = self.choice(flags)
        if not scanner.take(")"):
            scanner.refuse("'(' without its ')'", r"close it, or write '\('", start)
        self.depth -= 1
        if kind in ("=", "!"):
            return _Term(look(body, negative=kind == "!"), repeatable=False)
        if kind in ("<=", "<!"):
            node = look(body, behind=True, negative=kind == "<!")
            return _Term(node, repeatable=False)
        return _Term(Atomic(body) if kind == ">" else body)

    def group_kind(self, flags: Flags, start: int) -> tuple[str, Flags]:
        """Read what follows ``(?`` up to the body."""
        scanner = self.scanner
        for kind in ("=", "!", "<=", "<!", ">"):
            if scanner.take(kind):
                return kind, flags
        if scanner.peek() == "<" or scanner.peek(2) == "P<":
            end = scanner.pattern.find(">", scanner.position)
            name = scanner.pattern[scanner.position : end].partition("<")[2]
            if (
                end >= 0
                and name.isidentifier()
                and (scanner.peek() == "<" or self.dialect != "oniguruma")
            ):
                scanner.position = end + 1
                return "", flags
        elif scanner.peek() in ("-", ":") or (
            scanner.peek().isalpha() and scanner.peek() not in "PR"
        ):
            changed = self.flags_before_colon(flags, start)
            if changed is not None:
                return "", changed
        return self.refuse_group(start)

    def refuse_group(self, start: int) -> NoReturn:
        """Refuse a group of a kind that is not supported, by name."""
        scanner = self.scanner
        kinds = {
            "(": "a conditional group",
            "|": "a branch-reset group",
            "R": "recursion",
            "&": "a call of a group",
            "P": "a reference to a named group",
            "~": "an absence operator",
            "{": "code in a pattern",
        }
        what = kinds.get(scanner.peek(), "a group")
        if scanner.peek().isdigit():
            what = "a call of a group"
        scanner.refuse(
            f"{what} '{scanner.pattern[start : start + 4]}' is not supported",
            "write it out with '(?:...)' and '|'",
            start,
        )

    def flags_before_colon(self, flags: Flags, start: int) -> Flags | None:
        """Read ``i-s:``; None if no colon ends it."""
        pattern = self.scanner.pattern
        end = self.scanner.position
        while pattern[end : end + 1].isalpha() or pattern[end : end + 1] == "-":
            end += 1
        if pattern[end : end + 1] not in (":", ")"):
            return None
        flags = self.flags(flags, start)
        if not self.scanner.take(":"):
            return None
        return flags

    def counts_ahead(self) -> bool:
        """Tell whether the text after a ``{`` is a repeat count."""
        end = self.scanner.pattern.find("}", self.scanner.position)
        text = self.scanner.pattern[self.scanner.position : end] if end >= 0 else ""
        low, comma, high = text.partition(",")
        digits = set("0123456789")
        return set(low + high) <= digits and bool(low or (comma and high))

    def quantified(self, term: _Term) -> Node:
        """Read the quantifier after a term, if there is one."""
        scanner = self.scanner
        start = scanner.position
        bounds = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(scanner.peek())
        counted = False
        if bounds is not None:
            scanner.position += 1
        elif scanner.peek() == "{":
            scanner.position += 1
            bounds = self.counts(start)
            counted = True
        else:
            return term.node
        if not term.repeatable or term.node == EMPTY:
            scanner.refuse(
                "a quantifier on what consumes no text", "leave it out", start
            )
        node = self.with_mode(term.node, bounds, counted)
        if scanner.peek() in ("*", "+", "?") or scanner.peek() == "{":
            scanner.refuse(
                "a quantifier on a quantifier", "put '(?:...)' around the first"
            )
        return node

    def with_mode(
        self, body: Node, bounds: tuple[int, int | None], counted: bool
    ) -> Node:
        """Read the ``?`` or ``+`` after a quantifier and return the repeat."""
        scanner = self.scanner
        least, most = bounds
        if counted and self.dialect == "oniguruma":
            # Ruby's syntax has no possessive counts: {1,3}+ repeats the repeat. And
            # {2}? is not lazy but optional.
            if scanner.take("+"):
                return Repeat(repeat(body, least, most, "greedy"), 1, None, "greedy")
            if least == most and scanner.take("?"):
                return Repeat(repeat(body, least, most, "greedy"), 0, 1, "greedy")
        if scanner.take("?"):
            return repeat(body, least, most, "lazy")
        if scanner.take("+"):
            return repeat(body, least, most, "possessive")
        return repeat(body, least, most, "greedy")

    def counts(self, start: int) -> tuple[int, int | None]:
        """Read ``m}``, ``m,}``, ``,n}`` or ``m,n}``."""
        scanner = self.scanner
        if not self.counts_ahead():
            scanner.refuse("'{' that starts no repeat count", r"write '\{'", start)
        end = scanner.pattern.index("}", scanner.position)
        low, comma, high = scanner.pattern[scanner.position : end].partition(",")
        scanner.position = end + 1
        for count in (low.lstrip("0"), high.lstrip("0")):
            if len(count) > 5 or int(count or 0) > MAX_COUNT:
                scanner.refuse(
                    f"a repeat count above {MAX_COUNT:,}", "use '+' or '*'", start
                )
        least = int(low or 0)
        most = (int(high) if high else None) if comma else least
        if most is not None and most < least:
            scanner.refuse(
                f"a repeat count from {least} down to {most}",
                "write the smaller number first",
                start,
            )
        return least, most


@cache
def _whole_of_parts() -> dict[tuple[int, ...], int]:
    """Return a character for each string that some character folds to."""
    folded = fold_orbits()
    return {
        tuple(min(folded.get(cp, (cp,))) for cp in parts): whole
        for whole, parts in reversed(multi_folds().items())
    }


def look(body: Node, *, behind: bool = False, negative: bool = False) -> Look:
    """Return a lookaround."""
    return Look(body, behind, negative)


def repeat(body: Node, least: int, most: int | None, kind: str) -> Node:
    """Return a repeat, or what it comes to when there is nothing to choose."""
    if most == 0:
        return EMPTY
    if least == most == 1:
        return Atomic(body) if kind == "possessive" else body
    if kind == "lazy":
        return Repeat(body, least, most, "lazy")
    if kind == "possessive":
        return Repeat(body, least, most, "possessive")
    return Repeat(body, least, most, "greedy")


def choice_of(branches: list[Node]) -> Node:
    """Return the branches as one node; single characters side by side become a class.

    Between branches of one character each, order says nothing: at most one character
    can be taken either way and what follows is the same.
    """
    merged: list[Node] = []
    for branch in branches:
        last = merged[-1] if merged else None
        if isinstance(branch, Chars) and isinstance(last, Chars):
            merged[-1] = Chars(charset.union((last.ranges, branch.ranges)))
        else:
            merged.append(branch)
    return merged[0] if len(merged) == 1 else Choice(tuple(merged))
