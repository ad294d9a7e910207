"""Reading a pattern: position, refusals, and the escapes shared by all its parts."""

from __future__ import annotations

from typing import NoReturn

from pybpe.split import charset
from pybpe.split.patterns import shown
from pybpe.unicode import N_CODEPOINTS, Ranges, property_set

_CONTROL_ESCAPES = {"a": 7, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class Scanner:
    """A pattern, how far it has been read, and how to refuse it.

    Attributes:
        pattern: The whole pattern.
        dialect: One of ``patterns.DIALECTS``.
        position: Index of the next character to read.
    """

    def __init__(self, pattern: str, dialect: str) -> None:
        """Start at the beginning of a pattern."""
        self.pattern = pattern
        self.dialect = dialect
        self.position = 0

    def refuse(self, what: str, way_out: str, position: int | None = None) -> NoReturn:
        """Raise the ValueError that every refused pattern gets.

        Args:
            what: The construct, as the reader of the message wrote it.
            way_out: What to write instead.
            position: Where it starts; the current position if None.
        """
        at = self.position if position is None else position
        raise ValueError(
            f"split pattern {shown(self.pattern)} ({self.dialect} dialect), "
            f"position {at}: {what}; {way_out}"
        )

    def peek(self, length: int = 1) -> str:
        """Return the next characters without reading them ("" at the end)."""
        return self.pattern[self.position : self.position + length]

    def take(self, expected: str) -> bool:
        """Read ``expected`` if it is next, and tell whether it was."""
        if self.pattern.startswith(expected, self.position):
            self.position += len(expected)
            return True
        return False

    def next(self) -> str:
        """Read one character; there must be one."""
        char = self.pattern[self.position]
        self.position += 1
        return char

    def at_end(self) -> bool:
        """Tell whether the whole pattern has been read."""
        return self.position >= len(self.pattern)

    def escape(self, in_brackets: bool, ignore_case: bool) -> int | Ranges:
        r"""Read the escape after a backslash that has just been read.

        Returns:
            A codepoint, or a set for ``\p{...}``, ``\s`` and their like. Assertions
            (``\b``, ``\z``) are not for here: the caller looks for them first.
        """
        start = self.position - 1
        if self.at_end():
            self.refuse("a lone backslash at the end", r"write '\\'", start)
        char = self.next()
        if char in "pP":
            return self._property(start, char == "P", ignore_case)
        ranges = charset.perl_class(char, self.dialect, in_brackets)
        if ranges is not None:
            return ranges
        if char in _CONTROL_ESCAPES:
            return _CONTROL_ESCAPES[char]
        if char == "e" and self.dialect != "regex":
            return 0x1B
        if char == "x":
            return self._hexadecimal(start, 2, braces=self.dialect != "regex")
        if char == "u":
            return self._hexadecimal(start, 4, braces=self.dialect == "rust")
        if char == "U" and self.dialect != "oniguruma":
            return self._hexadecimal(start, 8, braces=self.dialect == "rust")
        if char == "b" and in_brackets:
            return 8
        if char.isascii() and char.isalnum():
            self._refuse_escape(start, char)
        return ord(char)

    def _refuse_escape(self, start: int, char: str) -> NoReturn:
        if char.isdigit():
            self.refuse(
                f"back-reference or octal escape '\\{char}'",
                "a split pattern cannot refer to groups; write a codepoint as "
                "'\\x00' and repeated text in full",
                start,
            )
        if char in "kg":
            self.refuse(
                f"'\\{char}' refers to a group",
                "write the group's pattern again in its place",
                start,
            )
        if char == "R":
            self.refuse(
                r"'\R' (any line break)",
                r"write '(?:\r\n|[\n\v\f\r\u0085\u2028\u2029])'",
                start,
            )
        ways = {
            "K": "use a lookbehind '(?<=...)'",
            "G": "leave it out: each match starts where the search stands",
            "X": r"write '\P{M}\p{M}*', or a class, instead of a grapheme cluster",
            "N": r"write '[^\n]'",
            "O": r"write '[\s\S]'",
        }
        self.refuse(
            f"unknown escape '\\{char}'",
            ways.get(char, f"write {char!r} alone if the letter is meant"),
            start,
        )

    def _hexadecimal(self, start: int, digits: int, braces: bool) -> int:
        if braces and self.take("{"):
            end = self.pattern.find("}", self.position)
            text = self.pattern[self.position : end] if end >= 0 else ""
            after = end + 1
        else:
            text = self.peek(digits)
            after = self.position + digits
            if len(text) < digits:
                text = ""
        is_hex = 0 < len(text) <= 8 and all(c in "0123456789abcdefABCDEF" for c in text)
        if not is_hex:
            form = "x" if digits == 2 else "u"
            self.refuse(
                "incomplete hexadecimal escape",
                rf"write {digits} digits, as in '\{form}{'41'.zfill(digits)}'",
                start,
            )
        codepoint = int(text, 16)
        if codepoint >= N_CODEPOINTS or 0xD800 <= codepoint < 0xE000:
            self.refuse(
                f"U+{codepoint:04X} is no character of Unicode text",
                "use a codepoint up to U+10FFFF that is no surrogate",
                start,
            )
        self.position = after
        return codepoint

    def _property(self, start: int, negated: bool, ignore_case: bool) -> Ranges:
        if self.take("{"):
            end = self.pattern.find("}", self.position)
            if end < 0:
                self.refuse("property without a closing brace", r"write '\p{L}'", start)
            name = self.pattern[self.position : end]
            self.position = end + 1
        elif self.dialect == "oniguruma" or self.at_end():
            self.refuse("property without braces", r"write '\p{L}'", start)
        else:
            name = self.next()
        if name.startswith("^"):
            negated = not negated
            name = name[1:]
        key, equals, value = name.partition("=")
        if equals and self.dialect == "oniguruma":
            self.refuse(
                f"property {name!r}: this dialect has no '='",
                rf"write '\p{{{value}}}'",
                start,
            )
        try:
            ranges = property_set(key, value if equals else None)
        except LookupError as error:
            what, _, known = str(error.args[0]).partition(": ")
            self.refuse(
                f"property {name!r}: {what}",
                known or "write another property, or the characters as a class",
                start,
            )
        if ignore_case and self.dialect == "rust":
            ranges = charset.fold(ranges)  # before the negation
        return charset.complement(ranges) if negated else ranges
