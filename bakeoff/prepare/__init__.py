"""Freezing datasets: rows and images of the hub become `data/<track>`, which is all that a run reads."""

from collections.abc import Mapping, Sequence

from bakeoff.errors import BakeoffError, DataMissing
from bakeoff.prepare.asked import Request, read_requests
from bakeoff.prepare.checks import Consent
from bakeoff.prepare.freezing import freeze
from bakeoff.prepare.link import Link
from bakeoff.prepare.manifest import Manifest
from bakeoff.prepare.problems import AGAIN, NothingWorks
from bakeoff.prepare.screen import Screen
from bakeoff.tracks.track import Track

__all__ = ["Consent", "Link", "Manifest", "Request", "Screen", "freeze", "prepare", "read_requests"]


def prepare(
    words: Sequence[str],
    revisions: Sequence[str],
    tracks: Mapping[str, Track],
    *,
    consent: Consent,
    screen: Screen,
    link: Link,
) -> None:
    """Prepare the tracks that `words` ask for, one after another; one that fails does not keep others from theirs.

    Raises:
        UsageProblem: when the request is wrong; nothing was begun.
        DataMissing: at the end when a track failed, at once when no other could succeed; it holds every reason.
    """
    failures: list[str] = []
    for request in read_requests(words, revisions, tracks):
        try:
            freeze(request, request.track.folder(), link=link, screen=screen, consent=consent)
        except NothingWorks as error:
            raise NothingWorks("\n".join((*failures, str(error)))) from error
        except KeyboardInterrupt:
            for failure in failures:
                screen.say(failure)
            screen.say(f"stopped. {AGAIN}")
            raise
        except BakeoffError as error:
            failures.append(str(error))
            screen.say(f"{request.track.name}: failed; the reason is told at the end")
    if failures:
        raise DataMissing("\n".join(failures))
