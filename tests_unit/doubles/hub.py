"""A Hugging Face hub of one folder a repository, speaking the routes that the real client uses for models."""

import hashlib
import http.server
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote, urlsplit

COMMIT = "0123456789abcdef0123456789abcdef01234567"


class _Handler(http.server.BaseHTTPRequestHandler):
    """Serves `root/<owner>/<name>/<file>`; every revision is the same commit, "gone" is none."""

    root: Path

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        if path.startswith("/api/models/"):
            self._info(path.removeprefix("/api/models/"))
        else:
            self._file(path, with_body=True)

    def do_HEAD(self) -> None:
        self._file(unquote(urlsplit(self.path).path), with_body=False)

    def log_message(self, *_: object) -> None:
        pass

    def _info(self, rest: str) -> None:
        repository, _, revision = rest.partition("/revision/")
        folder = self.root / repository.partition("/tree/")[0]
        if not folder.is_dir() or revision == "gone":
            self._reply(404, b"{}", {"X-Error-Code": "RepoNotFound" if not folder.is_dir() else "RevisionNotFound"})
            return
        names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
        if "/tree/" in repository:
            entries = [{"type": "file", "path": n, "oid": "0" * 40, "size": (folder / n).stat().st_size} for n in names]
            self._reply(200, json.dumps(entries).encode())
            return
        body = {"id": repository, "modelId": repository, "sha": COMMIT, "siblings": [{"rfilename": n} for n in names]}
        self._reply(200, json.dumps(body).encode())

    def _file(self, path: str, *, with_body: bool) -> None:
        repository, _, rest = path.strip("/").partition("/resolve/")
        file = self.root / repository / rest.partition("/")[2]
        if not file.is_file():
            self._reply(404, b"", {"X-Error-Code": "EntryNotFound"})
            return
        content = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "X-Repo-Commit": COMMIT}
        self._reply(200, content, headers, with_body=with_body)

    def _reply(self, code: int, body: bytes, headers: dict[str, str] | None = None, *, with_body: bool = True) -> None:
        self.send_response(code)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if with_body:
            self.wfile.write(body)


@contextmanager
def hub(root: Path) -> Iterator[str]:
    """Serve the repositories below `root`; give the address for `HF_ENDPOINT`."""
    handler = type("Handler", (_Handler,), {"root": root})
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
