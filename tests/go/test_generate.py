"""What the generator makes for Go of a contract of one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from _generate import GO_MADE, differences, generate_go, write
from _setup import GENERATE, SetupError, prepare
from tests.go.conftest import Go

PING = """
syntax = "proto3";
package example.v1;
import "google/protobuf/duration.proto";
message Ping { google.protobuf.Duration after = 1; }
service Echo { rpc Send(Ping) returns (Ping); }
"""


@pytest.fixture
def proto(tmp_path: Path, go: Go) -> Path:
    proto = tmp_path / "proto"
    (proto / "example" / "v1").mkdir(parents=True)
    (proto / "example" / "v1" / "ping.proto").write_text(PING)
    return proto


def test_a_file_becomes_part_of_the_package_that_its_folder_names(proto: Path) -> None:
    generated = generate_go(proto, prepare(GENERATE))

    assert {str(path) for path in generated} == {"v1/ping.pb.go", "v1/ping_grpc.pb.go"}
    assert all(b"\npackage v1\n" in code for code in generated.values())


def test_what_was_written_is_fresh_and_what_is_stale_is_deleted(proto: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    generated = generate_go(proto, prepare(GENERATE))
    write(differences(generated, output, GO_MADE), output)
    (output / "v1" / "gone.pb.go").write_text("// its .proto file was removed")
    (output / "v1" / "handwritten.go").write_text("// none of the generator's business")

    assert differences(generated, output, GO_MADE) == {Path("v1/gone.pb.go"): None}


def test_a_broken_file_is_named_with_its_line(proto: Path) -> None:
    (proto / "example" / "v1" / "ping.proto").write_text('syntax = "proto3";\nmessage {')

    with pytest.raises(SetupError, match=r"(?s)example/v1/ping\.proto:2:.*protoc refuses the files above"):
        generate_go(proto, prepare(GENERATE))
