"""The line to the dataset hub: lists a repository, reads parts of its files, counts bytes, tries again, gives up."""

import os
import threading
import time
from collections.abc import Callable
from typing import TypeVar

import httpx2
import huggingface_hub
from huggingface_hub import close_session, constants, hf_raise_for_status
from huggingface_hub.errors import HfHubHTTPError, RevisionNotFoundError
from huggingface_hub.utils import build_hf_headers  # type: ignore[attr-defined] # public, and loaded lazily

from bakeoff.prepare.commits import listed_commit
from bakeoff.prepare.listing import Listing, cached_file, cached_listing
from bakeoff.prepare.problems import NothingWorks, refused, unreachable

STALL_S = 60.0
"""How long a download may give no byte before it is begun anew."""

ATTEMPTS = 6
"""How many failures in a row, without a single new byte between them, are one too many."""

WORKERS = 4
"""How many parts of files are fetched at a time."""

_DEFAULT_HUB = "https://huggingface.co"
"""For an HF_ENDPOINT that is set to nothing."""

_ATTEMPTS_AT_NOBODY = 2
"""The same for a hub that cannot be connected to and never answered: there is no network, and waiting makes none."""

_TRY_AGAIN = {408, 429, 500, 502, 503, 504}
_LONGEST_WAIT_S = 300.0
_T = TypeVar("_T")


class CutOff(Exception):
    """A body ended before its promised end."""


def silent(_: int) -> None:
    """Take no note of bytes."""


class Link:
    """A connection to the hub, with huggingface_hub's token, endpoint, cache and offline mode.

    `fetched` counts the bytes of file contents that came over the network. Shards that lie in the hub's own cache (as
    `hf download` leaves them there) are read from it. `say` is told of every new attempt, `advance` of every chunk.

    Args:
        endpoint: the hub's address, None for `$HF_ENDPOINT` or huggingface.co.
        say: where notes go.
        stall_s: seconds without a byte after which a request is given up.
        attempts: failures in a row without progress before the link gives up.
        workers: how many requests are under way at a time.
        sleep: waits for a number of seconds.
    """

    def __init__(
        self,
        *,
        endpoint: str | None = None,
        say: Callable[[str], None] = print,
        stall_s: float = STALL_S,
        attempts: int = ATTEMPTS,
        workers: int = WORKERS,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.endpoint = (endpoint or constants.ENDPOINT or _DEFAULT_HUB).rstrip("/")
        self.workers = workers
        self.fetched = 0
        self._counting = threading.Lock()
        self.advance: Callable[[int], None] = silent
        self._api = huggingface_hub.HfApi(endpoint=self.endpoint)
        self._client = httpx2.Client(follow_redirects=True)
        self._listings: dict[tuple[str, str], Listing] = {}
        self._texts: dict[tuple[str, str, str], str] = {}
        self._was_reached = False
        self._say, self._stall_s, self._attempts, self._sleep = say, stall_s, attempts, sleep

    def listing(self, repository: str, revision: str) -> Listing:
        """List `repository` at `revision`, resolved to a commit; asked for once.

        Raises:
            DataMissing: when it is missing, gated or, in offline mode, not in the hub's cache.
            NothingWorks: when the hub cannot be reached or refuses the token.
        """
        if (repository, revision) not in self._listings:
            listed = cached_listing if constants.is_offline_mode() else self._ask_listing
            self._listings[repository, revision] = listed(repository, revision)
        return self._listings[repository, revision]

    def _ask_listing(self, repository: str, revision: str) -> Listing:
        def ask() -> Listing:
            try:
                info = self._info(repository, revision)
            except RevisionNotFoundError:
                commit = listed_commit(self._api, repository, revision)
                if commit is None:
                    raise
                info = self._info(repository, commit)
            sizes = {file.rfilename: file.size or 0 for file in info.siblings or ()}
            return Listing(repository=repository, commit=str(info.sha), sizes=sizes)

        return self._patiently(ask, f"{repository}: list of files", repository, revision)

    def _info(self, repository: str, revision: str) -> huggingface_hub.DatasetInfo:
        return self._api.dataset_info(repository, revision=revision, files_metadata=True, timeout=self._stall_s)

    def text(self, listing: Listing, path: str) -> str:
        """Return a small text file of `listing`, empty when there is none; asked for once."""
        key = (listing.repository, listing.commit, path)
        if key not in self._texts:
            self._texts[key] = self._read_text(listing, path)
        return self._texts[key]

    def _read_text(self, listing: Listing, path: str) -> str:
        if path not in listing.sizes:
            return ""
        local = cached_file(listing, path)
        if local is not None:
            return local.read_text("utf-8", errors="replace")

        def ask() -> str:
            response = self._client.get(self._url(listing, path), headers=build_hf_headers(), timeout=self._stall_s)
            hf_raise_for_status(response)
            self._count(len(response.content))
            return response.content.decode("utf-8", errors="replace")

        return self._patiently(ask, f"{listing.repository}: {path}", listing.repository, listing.commit)

    def part(self, listing: Listing, path: str, start: int, end: int) -> bytes:
        """Return bytes `start` to `end` (exclusive) of a file; what has come is kept from one attempt to the next.

        Raises:
            DataMissing, NothingWorks: as `listing`.
        """
        local = cached_file(listing, path)
        if local is not None:
            with local.open("rb") as file:
                file.seek(start)
                return file.read(end - start)
        got = bytearray()

        def ask() -> bytes:
            self._stream(self._url(listing, path), got, start, end)
            return bytes(got)

        what = f"{listing.repository}: {path}"
        return self._patiently(ask, what, listing.repository, listing.commit, progress=lambda: len(got))

    def _stream(self, url: str, got: bytearray, start: int, end: int) -> None:
        wanted = {"Range": f"bytes={start + len(got)}-{end - 1}", "Accept-Encoding": "identity"}
        headers = {**build_hf_headers(), **wanted}
        with self._client.stream("GET", url, headers=headers, timeout=self._stall_s) as response:
            if response.is_error:
                response.read()
            hf_raise_for_status(response)
            if response.status_code != httpx2.codes.PARTIAL_CONTENT:
                raise NothingWorks(f"{self.endpoint} does not serve parts of files, which lean reading needs.")
            for chunk in response.iter_bytes():
                got += chunk
                self._count(len(chunk))
        if (came := len(got)) != end - start:
            if came > end - start:
                got.clear()  # not the part that was asked for
            raise CutOff(f"{came} of {end - start} bytes came")

    def _patiently(
        self, ask: Callable[[], _T], what: str, repository: str, revision: str, progress: Callable[[], int] = lambda: 0
    ) -> _T:
        """Ask until there is an answer, a final refusal, or too many failures without progress in a row."""
        failures, before = 0, 0
        while True:
            try:
                answer = ask()
            except HfHubHTTPError as error:
                if error.response.status_code not in _TRY_AGAIN:
                    raise refused(error, repository, revision) from error
                problem: Exception = error
            except UnicodeEncodeError as error:
                raise NothingWorks("HF_TOKEN holds a character that no token has: set it anew, or unset it") from error
            except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
                raise NothingWorks(f"HF_ENDPOINT is no address that begins with https://: {self.endpoint!r}") from error
            except (httpx2.RequestError, CutOff, ValueError, LookupError) as error:
                # The last two are what a page that is no answer of a hub, such as a log-in page, becomes.
                problem = error
            else:
                self._was_reached = True
                return answer
            failures = 1 if progress() > before else failures + 1
            before = progress()
            is_away = isinstance(problem, httpx2.ConnectError | httpx2.ConnectTimeout) and not self._was_reached
            attempts = _ATTEMPTS_AT_NOBODY if is_away else self._attempts
            if failures >= attempts:
                raise unreachable(self.endpoint, problem, failures) from problem
            wait = min(max(2.0 ** (failures - 1), _retry_after(problem)), _LONGEST_WAIT_S)
            self._say(f"{what}: {self._remedy(problem)} (attempt {failures + 1} of {attempts}, in {wait:.0f} s)")
            self._sleep(wait)

    def _remedy(self, problem: Exception) -> str:
        """Prepare the next attempt and say why there is one."""
        if isinstance(problem, httpx2.TimeoutException):
            # Other threads may be reading through the old client of ours, so it is let go and not closed.
            self._client = httpx2.Client(follow_redirects=True)
            close_session()
            # The switch of the documentation is read at import; the client's code looks at the constant.
            os.environ["HF_HUB_DISABLE_XET"] = "1"
            constants.HF_HUB_DISABLE_XET = True
            return f"no byte for {self._stall_s:g} s; trying again without xet over a new connection"
        if isinstance(problem, HfHubHTTPError):
            return f"the hub answers {problem.response.status_code}; trying again"
        return f"the connection broke ({str(problem).strip() or type(problem).__name__}); trying again"

    def _url(self, listing: Listing, path: str) -> str:
        return huggingface_hub.hf_hub_url(
            listing.repository, path, repo_type="dataset", revision=listing.commit, endpoint=self.endpoint
        )

    def _count(self, size: int) -> None:
        with self._counting:
            self.fetched += size
            self.advance(size)


def _retry_after(problem: Exception) -> float:
    """Return the seconds that the hub asks to wait, 0 when it does not say."""
    value = problem.response.headers.get("Retry-After", "") if isinstance(problem, HfHubHTTPError) else ""
    return float(value) if value.isdigit() else 0.0
