"""Is a prepared track what it is known to be? Counts of groups at the pinned revision, counted on the real data.

A dataset can change under the same name without changing its columns: new labels, other rows. Row counts are held by
`Split.rows`; this holds what the rows are.
"""

from collections import Counter
from collections.abc import Sequence

from bakeoff.records import Sample
from bakeoff.tracks.track import Track
from bakeoff.wording import some


def differences(track: Track, samples: Sequence[Sample]) -> tuple[str, ...]:
    """Return in words which groups have other counts than they should.

    Nothing is said of a part of the track, except that no group may be larger than in the whole.
    """
    told = []
    is_whole = len(samples) == track.full
    for dimension, expected in track.census.items():
        found = Counter(sample.groups[dimension] for sample in samples if dimension in sample.groups)
        for value in sorted({*expected, *found}):
            known, n = expected.get(value, 0), found[value]
            if n > known or (is_whole and n != known):
                told.append(f"{track.name}: {dimension} {value} has {some(n, 'sample')}, expected {known}")
    return tuple(told)
