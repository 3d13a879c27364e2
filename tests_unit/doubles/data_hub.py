"""A Hugging Face hub of dataset repositories that the real clients read, ranges included, and that fails on demand.

A repository is a folder `root/<owner>/<name>`, the same at every revision: a whole hash is its own commit, a branch is
`COMMIT`, and neither "gone" nor the beginning of a hash is resolved, though the history lists `COMMIT` and `OLDER`.
Each request has a number, from 0; `faults` says which of them go wrong, and how.
"""

import http.server
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pyarrow as pa
import pyarrow.parquet as pq

COMMIT = "89abcdef0123456789abcdef0123456789abcdef"
OLDER = "c39eb63" + "0" * 33
IMAGE = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
"""How the hub's parquet files hold an image."""

ERRORS: dict[str, tuple[int, dict[str, str]]] = {
    "404": (404, {"X-Error-Code": "RepoNotFound"}),
    "gone": (404, {"X-Error-Code": "RevisionNotFound"}),
    "401": (401, {"X-Error-Message": "Invalid credentials in Authorization header"}),
    "gated": (403, {"X-Error-Code": "GatedRepo"}),
    "403": (403, {}),
    "400": (400, {}),
    "no entry": (404, {"X-Error-Code": "EntryNotFound"}),
    "500": (500, {}),
    "429": (429, {"Retry-After": "7"}),
}
"""Faults that are an answer of the hub; `cut` ends a body early, `stall` sends none, `page` is no answer of a hub,
`more` sends a part that is longer than asked for."""


class DataHub:
    """A running hub: its address, what was asked of it, and what goes wrong."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.endpoint = ""
        self.requests: list[str] = []
        self.tokens: list[str | None] = []
        self.body_bytes = 0
        self.faults: dict[int, str] = {}
        self.always: str | None = None
        self.end = threading.Event()

    def fault(self, request: str) -> str | None:
        """Note a request, and return what is to go wrong with it."""
        number = len(self.requests)
        self.requests.append(request)
        return self.always or self.faults.get(number)

    def forget(self) -> None:
        """Begin to number requests anew, with no fault."""
        self.requests.clear()
        self.tokens.clear()
        self.faults.clear()
        self.always = None
        self.body_bytes = 0


class _Handler(http.server.BaseHTTPRequestHandler):
    hub: DataHub

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        fault = self.hub.fault(f"GET {path}")
        self.hub.tokens.append(self.headers.get("Authorization"))
        if fault in ERRORS:
            self._reply(*ERRORS[fault])
        elif fault == "page":
            self._reply(200, {"Content-Type": "text/html"}, b"<html>please log in</html>")
        elif fault == "stall":
            self.hub.end.wait()
        elif path.startswith("/api/datasets/"):
            self._api(path.removeprefix("/api/datasets/"), cut=fault == "cut")
        else:
            self._file(path, cut=fault == "cut", more=fault == "more")

    def do_HEAD(self) -> None:
        path = unquote(urlsplit(self.path).path)
        self.hub.fault(f"HEAD {path}")
        self._file(path)

    def do_POST(self) -> None:
        self.hub.fault(f"POST {self.path}")
        repository = unquote(urlsplit(self.path).path).removeprefix("/api/datasets/").partition("/paths-info/")[0]
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["paths"]
        folder = self.hub.root / repository
        found = [_entry(folder, folder / path) for path in asked if (folder / path).exists()]
        self._reply(200, {"Content-Type": "application/json"}, json.dumps(found).encode())

    def log_message(self, *_: object) -> None:
        pass

    def _api(self, path: str, *, cut: bool) -> None:
        repository, _, tree = path.partition("/tree/")
        repository, _, branch = repository.partition("/commits/")
        repository, _, revision = repository.partition("/revision/")
        folder = self.hub.root / repository
        if not folder.is_dir():
            self._reply(*ERRORS["404"])
        elif branch:
            told = {"authors": [], "date": "2024-03-08T00:00:00.000Z", "title": "Upload", "message": ""}
            history = [{"id": commit, **told} for commit in (COMMIT, OLDER)]
            self._reply(200, {}, json.dumps(history).encode())
        elif revision == "gone" or re.fullmatch("[0-9a-f]{7,39}", revision):
            self._reply(*ERRORS["gone"])
        elif tree:
            under = folder / tree.partition("/")[2]
            found: Any = [_entry(folder, item) for item in sorted(under.iterdir())] if under.is_dir() else []
            self._reply(200, {}, json.dumps(found).encode())
        else:
            files = sorted(file for file in folder.rglob("*") if file.is_file())
            siblings = [{"rfilename": _entry(folder, f)["path"], "size": f.stat().st_size} for f in files]
            sha = revision if len(revision) == len(COMMIT) else COMMIT
            self._reply(200, {}, json.dumps({"id": repository, "sha": sha, "siblings": siblings}).encode(), cut=cut)

    def _file(self, path: str, *, cut: bool = False, more: bool = False) -> None:
        repository, _, rest = path.removeprefix("/datasets/").partition("/resolve/")
        file = self.hub.root / repository / rest.partition("/")[2]
        if not file.is_file():
            self._reply(404, {"X-Error-Code": "EntryNotFound"})
            return
        content = file.read_bytes()
        headers = {"ETag": f'"{len(content)}"', "X-Repo-Commit": COMMIT, "Accept-Ranges": "bytes"}
        asked = self.headers.get("Range")
        if asked is None:
            self._reply(200, headers, content, cut=cut)
            return
        first, _, last = asked.removeprefix("bytes=").partition("-")
        part = content[int(first) : int(last) + 1] + (b"more" if more else b"")
        headers["Content-Range"] = f"bytes {first}-{int(first) + len(part) - 1}/{len(content)}"
        self._reply(206, headers, part, cut=cut)

    def _reply(self, code: int, headers: dict[str, str], body: bytes = b"", *, cut: bool = False) -> None:
        self.send_response(code, HTTPStatus(code).phrase)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            sent = body[: len(body) // 2] if cut else body
            self.hub.body_bytes += len(sent)
            self.wfile.write(sent)


def _entry(folder: Path, item: Path) -> dict[str, Any]:
    path = item.relative_to(folder).as_posix()
    if item.is_dir():
        return {"type": "directory", "path": path, "oid": "0" * 40}
    return {"type": "file", "path": path, "oid": "0" * 40, "size": item.stat().st_size}


@contextmanager
def data_hub(root: Path) -> Iterator[DataHub]:
    """Serve the repositories below `root`."""
    hub = DataHub(root)
    handler = type("Handler", (_Handler,), {"hub": hub})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    hub.endpoint = f"http://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    try:
        yield hub
    finally:
        hub.end.set()
        server.shutdown()
        server.server_close()


def write_shards(
    folder: Path, stem: str, rows: Sequence[dict[str, Any]], schema: Any, *, shards: int = 1, group_rows: int = 100
) -> list[Path]:
    """Write `rows` as `<stem>-0000k-of-0000n.parquet` files below `folder`, as pushing a dataset to the hub does."""
    paths = []
    for number in range(shards):
        part = rows[number * len(rows) // shards : (number + 1) * len(rows) // shards]
        path = folder / f"{stem}-{number:05}-of-{shards:05}.parquet"
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(list(part), schema=schema), path, row_group_size=group_rows)
        paths.append(path)
    return paths


def write_card(folder: Path, splits: dict[str, dict[str, str]]) -> None:
    """Write the README.md whose head names the files of each split of each configuration."""
    lines = ["---", "configs:"]
    for config, files in splits.items():
        lines += [f"- config_name: {config}", "  data_files:"]
        for split, pattern in files.items():
            lines += [f"  - split: {split}", f"    path: {pattern}"]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "README.md").write_text("\n".join([*lines, "---", "# A dataset", ""]), "utf-8")
