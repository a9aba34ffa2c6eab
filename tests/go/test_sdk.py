"""The Go SDK's own tests, and that it is what the rest of the project takes it for."""

from __future__ import annotations

import re

import pytest

import rummyarena
from tests.go.conftest import ROOT, Go

MODULES = ("sdk/go", "sample_bots/go")


def test_its_own_tests_pass(go: Go) -> None:
    assert "\nok" in "\n" + go("sdk/go", "test", "-count=1", "./...")


@pytest.mark.parametrize("module", MODULES)
def test_its_requirements_are_complete_and_none_is_idle(module: str, go: Go) -> None:
    go(module, "mod", "tidy", "-diff")


@pytest.mark.parametrize("module", MODULES)
def test_its_requirements_name_no_place(module: str) -> None:
    for name in ("go.mod", "go.sum"):
        assert "://" not in (ROOT / module / name).read_text()


def test_samples_and_sdk_ask_for_the_same_go() -> None:
    versions = {re.findall(r"^go (.*)$", (ROOT / module / "go.mod").read_text(), re.MULTILINE)[0] for module in MODULES}
    assert versions == {"1.25.0"}  # scripts/_go.py says so too


def test_all_sdks_have_one_version() -> None:
    assert f'const Version = "{rummyarena.__version__}"' in (ROOT / "sdk" / "go" / "rummyarena.go").read_text()
    assert f"require rummyarena v{rummyarena.__version__}\n" in (ROOT / "sample_bots" / "go" / "go.mod").read_text()


def test_it_carries_the_licence() -> None:
    assert (ROOT / "sdk" / "go" / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
