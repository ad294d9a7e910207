"""Which ids no text can ever get.

Every answer has a proof. That an id can be had is shown by a text, which is encoded.
That it cannot is shown by what holds of every text:

- A token that encoding gives was merged from its own bytes alone, for no merge crossed
  its ends, and what happens elsewhere does not change which of the pairs inside comes
  first. So merging its bytes by themselves gives it, or nothing does, unless a pretoken
  that is a token is taken whole.
- For the same reason two tokens that stand side by side are what merging the bytes of
  both gives. So where something has to stand beside a token, as the rest of a character
  has, one of the tokens that may be there must leave it alone, and likewise with the
  next one, until the character is whole.
- A token lies inside one pretoken, and the tables of the split say whether any can hold
  its bytes (`_automaton`).
- What lies between added tokens holds none of them; a normal form is one in every part.

Ids for which neither is found are named, not guessed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pybpe.inspection._characters import CharacterSearch
from pybpe.inspection._pieces import PieceSearch
from pybpe.inspection._search import Search
from pybpe.inspection._verdicts import Reachability
from pybpe.model import CHARACTERS, Model

if TYPE_CHECKING:
    from pybpe.tokenizer import Tokenizer

__all__ = ["Reachability", "reachability"]


def reachability(tok: Tokenizer) -> Reachability:
    r"""Find out which ids texts can get, and which none ever gets.

    >>> from pybpe import Tokenizer
    >>> pairs = [(b" ", b" "), (b"a", b" "), (b"\n", b"a")]
    >>> tok = Tokenizer.from_merges(pairs, pattern="gpt2")
    >>> found = reachability(tok)
    >>> found.unreachable
    {257: 'the split cuts it, in every text', 258: 'the split cuts it, in every text'}
    >>> found.from_bytes_only[0xFF]
    b'\xff'

    Takes some seconds for the largest vocabularies.
    """
    model = tok._model
    search: Search
    if not isinstance(model, Model):
        search = PieceSearch(tok)
    elif model.symbols == CHARACTERS or model.word_suffix:
        search = CharacterSearch(tok)
    else:
        search = Search(tok)
    search.run()
    return search.result()
