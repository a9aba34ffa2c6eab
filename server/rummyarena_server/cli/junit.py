"""JUnit XML: the result of a test in the form that systems for continuous integration read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias
from xml.etree import ElementTree

Result: TypeAlias = Literal["passed", "failure", "error", "skipped"]

_SUITE: Final = "rummyarena regress"
_NO_XML: Final = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True, slots=True)
class TestCase:
    """A test that was run: what it is called, how it ended and in how many seconds.

    `message`: why it did not pass, in a line. `output`: all that there is to say of it. Any text will do.
    """

    __test__ = False  # pytest is not to take it for one of its own

    name: str
    result: Result
    seconds: float
    message: str = ""
    output: str = ""


def junit_xml(case: TestCase) -> str:
    """Returns a test suite of one case as XML; what no XML can hold stands in it as escapes."""
    seconds = f"{case.seconds:.3f}"
    counts = {f"{kind}s" if kind != "skipped" else kind: str(int(case.result == kind)) for kind in _KINDS}
    suites = ElementTree.Element("testsuites")
    suite = ElementTree.SubElement(suites, "testsuite", {"name": _SUITE, "tests": "1", **counts, "time": seconds})
    shown = {"classname": _SUITE.replace(" ", "."), "name": _text(case.name), "time": seconds}
    element = ElementTree.SubElement(suite, "testcase", shown)
    if case.result != "passed":
        ElementTree.SubElement(element, case.result, {"message": _text(case.message)}).text = _text(case.output)
    else:
        ElementTree.SubElement(element, "system-out").text = _text(case.output)
    ElementTree.indent(suites)
    return ElementTree.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


_KINDS: Final[tuple[Result, ...]] = ("failure", "error", "skipped")


def _text(text: str) -> str:
    return _NO_XML.sub(lambda found: found[0].encode("unicode_escape").decode(), text)
