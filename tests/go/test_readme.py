"""What the README of the Go SDK says to do is done here."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.go.conftest import ROOT, Go

SDK = ROOT / "sdk" / "go"
README = (SDK / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_a_bot_is_made_in_an_empty_folder(go: Go, tmp_path: Path) -> None:
    start, finish = blocks("sh")
    (main,) = blocks("go")
    (tmp_path / "main.go").write_text(main)
    for line in (start + finish).replace("/path/to/sdk/go", str(SDK)).splitlines():
        command, *words = line.split()
        assert command == "go"
        go(str(tmp_path), *words)

    done = subprocess.run([tmp_path / "mybot", "--help"], capture_output=True, text=True, check=False)

    assert "RUMMYARENA_ADDRESS" in done.stderr


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (SDK / link).exists()] == []
