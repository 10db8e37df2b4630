"""Every reason and every fault that the distiller and the dream know of has its Chinese words."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Iterator
from types import ModuleType
from typing import get_args

import pytest

from catmem.cli import dream
from catmem.cli.reasons import fault, reasons
from catmem.distil import distiller, judge, known
from catmem.distil.model import answer, asking, checks, combine
from catmem.distil.model.answer import Fault
from catmem.dream.model import dreamer, operations
from catmem.llm.port import Kind

# Where reasons are made; a sentence in one of these functions is a reason, or an error or a docstring.
MAKERS: tuple[tuple[ModuleType, tuple[str, ...]], ...] = (
    (judge, ("judge", "_barred")),
    (distiller, ("_judged",)),
    (known, ("lifted",)),
    (answer, ("_parsed", "_unparsed", "_entries", "_checked", "_picks", "_guessed")),
    (asking, ("_completed",)),
    (checks, ("sound_words",)),
    (combine, ("combined", "_refusal")),
)
# Names that stay: of fields, of kinds of JSON, of rules, and ids.
LATIN = re.compile(r"JSON|facts|digest|progress|topics|words|sure|kind|scope|list|one-off-en|m12ab|\bn\b")


# A part of "changes message 3", and the name of a question.
NO_REASONS = ("message 3", "3 killed")


def sentences(function: ast.FunctionDef) -> Iterator[str]:
    """The texts with a blank in them, "3" where a value is put in; the docstring left out."""
    inside = {id(part) for node in ast.walk(function) if isinstance(node, ast.JoinedStr) for part in node.values}
    docstring = ast.get_docstring(function, clean=False)
    for node in ast.walk(function):
        if isinstance(node, ast.JoinedStr):
            text = "".join(str(part.value) if isinstance(part, ast.Constant) else "3" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            text = node.value
        else:
            continue
        if " " in text.strip() and text not in (docstring, *NO_REASONS):
            yield text


def made() -> list[tuple[str, str]]:
    found = []
    for module, names in MAKERS:
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if isinstance(node, ast.FunctionDef) and node.name in names:
                found += [(f"{module.__name__}.{node.name}", text) for text in sentences(node)]
    return found


@pytest.mark.parametrize(("place", "text"), made())
def test_each_reason_that_is_made_has_chinese_words(place: str, text: str) -> None:
    # "3; the model agrees": the reason goes on from another; "; rule3 3": it is part of one.
    told = text.removeprefix("3; ").removeprefix("; ").replace("rule3", "rules").replace("changes 3", "changes m12ab")
    chinese = LATIN.sub("", reasons(told, "zh"))
    assert not re.search("[A-Za-z]", chinese), (place, chinese)
    assert reasons(told, "en") == told


def test_they_are_enough_to_be_the_reasons() -> None:
    assert len(made()) > 30


@pytest.mark.parametrize("name", [*get_args(Fault), *get_args(Kind), "killed"])
def test_each_fault_has_chinese_words(name: str) -> None:
    assert re.search("[\u4e00-\u9fff]", fault(name, "zh")) and fault(name, "en") == name


def test_reasons_are_told_together() -> None:
    assert reasons("score 0.87; rules ordered-zh, lasting-zh; the model agrees", "zh") == (
        "评分 0.87；规则 ordered-zh、lasting-zh；模型也认同"
    )
    assert reasons("too little speaks for it: score 0.10; rule asked", "zh") == "依据不足：评分 0.10；规则 asked"
    assert reasons("it is hardly a decision", "zh") == "不像是决定"
    assert reasons("what a newer version says", "zh") == "what a newer version says"


def test_what_a_dream_refuses_has_chinese_words() -> None:
    found = set()
    for module in (operations, dreamer):
        for node in ast.walk(ast.parse(inspect.getsource(module))):
            if (
                isinstance(node, ast.Return)
                and isinstance(node.value, ast.Constant)
                and isinstance(node.value.value, str)
            ):
                found.add(node.value.value)
    assert {text for text in found if " " in text} <= dream._WHYS.keys() and len(found) > 10
