"""Which words a passage has, asked one by one (hot path)."""

from __future__ import annotations

import functools
import re
import unicodedata

from catmem.text.simplified import spellings
from catmem.text.tokens import without_accents

# Letters and digits of other widths and shapes (full width, half width, ligatures, circled, Roman, composed of several),
# and alphabets whose letters have accents. By far the most texts have none: to look for them costs a tenth of what
# folding does, which full-width commas ask for.
_OTHER_SHAPES = (
    "[\u00aa-\u00be\u00c0-\u024f\u02b0-\u02f3\u0300-\u052f\u0587\u0675-\u0678\u0958-\u0f7c"
    "\u10fc-\u11ff\u1d2c-\u1dbf\u1e00-\u1fff\u2070-\u209c\u20a8-\u249b\u249c-\u24ff\u2c7c-\u2fdf\u3036-\u303a\u3099-\u309f"
    "\u30ff-\u33ff\ua640-\ua7ff\uab5c-\uab69\uf900-\ufefc\uff10-\uff19\uff21-\uff3a\uff41-\uff5a\uff66-\uffee\U00010780-\U0002ffff]"
)


@functools.cache
def _has_other_shapes() -> re.Pattern[str]:
    return re.compile(_OTHER_SHAPES)


class PassageWords:
    """Answers which tokens a passage has without making all of them, which for a long one takes milliseconds."""

    __slots__ = ("_text", "_whole")

    def __init__(self, text: str) -> None:
        if not text.isascii() and _has_other_shapes().search(text):
            text = without_accents(unicodedata.normalize("NFKC", text))
        self._text = text.casefold()
        # The token of an identifier or a word ("don't") as a whole is written without these.
        self._whole = self._text.replace("-", "").replace("_", "").replace("'", "").replace("’", "")

    def __contains__(self, token: object) -> bool:
        word = str(token)
        if not word.isascii():
            # Folding the text would cost more than looking for each way to write the word. A loop: this is asked most.
            for spelled in spellings(word):  # noqa: SIM110
                if spelled in self._text:
                    return True
            return False
        if len(word) > 3:
            # A stem is the beginning of its word but for a last e (stage, staging), and seldom stands in another.
            begun = word[:-1] if len(word) > 4 and word.endswith("e") else word
            return begun in self._text or begun in self._whole
        start = self._text.find(word)
        while start >= 0:
            end = start + len(word)
            if not _joined(self._text[max(start - 1, 0) : start], word[0]) and not _joined(
                word[-1], self._text[end : end + 1]
            ):
                return True
            start = self._text.find(word, start + 1)
        return False


def _joined(before: str, after: str) -> bool:
    """Whether two characters are of one word: an identifier is parted between letters and digits, too (node20)."""
    both = before + after
    return len(both) == 2 and both.isascii() and (both.isalpha() or both.isdigit())
