"""Tests of the generator with a contract of one file."""

from __future__ import annotations

from pathlib import Path

import pytest

from _generate import differences, generate, write
from _setup import GENERATE, SetupError, prepare

MESSAGE = """
syntax = "proto3";
package example.v1;
import "google/protobuf/duration.proto";
message Ping { google.protobuf.Duration after = 1; }
"""
SERVICE = (
    'syntax = "proto3"; package example.v1; import "example/v1/ping.proto";\nservice S { rpc R(Ping) returns (Ping); }'
)
PACKAGE = Path("example/v1")


@pytest.fixture(scope="module")
def environment() -> Path:
    return prepare(GENERATE)


@pytest.fixture
def proto(tmp_path: Path) -> Path:
    proto = tmp_path / "proto"
    (proto / PACKAGE).mkdir(parents=True)
    (proto / PACKAGE / "ping.proto").write_text(MESSAGE)
    return proto


def test_a_message_becomes_a_module_and_its_types(proto: Path, environment: Path) -> None:
    generated = generate(proto, environment)

    assert {str(path) for path in generated} == {
        "example/v1/__init__.py",
        "example/v1/ping_pb2.py",
        "example/v1/ping_pb2.pyi",
    }
    assert generated[PACKAGE / "__init__.py"] == b""


def test_a_service_becomes_stubs_as_well(proto: Path, environment: Path) -> None:
    (proto / PACKAGE / "service.proto").write_text(SERVICE)

    generated = generate(proto, environment)

    assert {PACKAGE / "service_pb2_grpc.py", PACKAGE / "service_pb2_grpc.pyi"} <= generated.keys()
    assert b"from example.v1 import ping_pb2" in generated[PACKAGE / "service_pb2_grpc.py"]


def test_what_was_written_is_fresh(proto: Path, environment: Path, tmp_path: Path) -> None:
    output = tmp_path / "output"
    write(differences(generate(proto, environment), output), output)

    assert differences(generate(proto, environment), output) == {}


def test_changed_missing_and_stale_files_differ_and_others_do_not(
    proto: Path, environment: Path, tmp_path: Path
) -> None:
    output = tmp_path / "output"
    generated = generate(proto, environment)
    write(differences(generated, output), output)
    (output / PACKAGE / "ping_pb2.py").write_text("# changed by hand")
    (output / PACKAGE / "ping_pb2.pyi").unlink()
    (output / PACKAGE / "gone_pb2.py").write_text("# its .proto file was removed")
    (output / PACKAGE / "handwritten.py").write_text("# none of the generator's business")

    changes = differences(generated, output)

    assert set(changes) == {PACKAGE / name for name in ("ping_pb2.py", "ping_pb2.pyi", "gone_pb2.py")}
    write(changes, output)
    assert differences(generated, output) == {}
    assert not (output / PACKAGE / "gone_pb2.py").exists()
    assert (output / PACKAGE / "handwritten.py").exists()


def test_a_broken_file_is_named_with_its_line(proto: Path, environment: Path) -> None:
    (proto / PACKAGE / "ping.proto").write_text('syntax = "proto3";\nmessage {')

    with pytest.raises(SetupError, match=r"(?s)example/v1/ping\.proto:2:.*protoc refuses the files above"):
        generate(proto, environment)


def test_a_missing_contract_is_said(tmp_path: Path, environment: Path) -> None:
    with pytest.raises(SetupError, match=r"There is no \.proto file below .*: restore it"):
        generate(tmp_path, environment)
