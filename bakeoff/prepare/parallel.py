"""Several requests at a time: a hub answers each after a while, and most of preparing is waiting."""

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_In = TypeVar("_In")
_Out = TypeVar("_Out")


def in_order(function: Callable[[_In], _Out], items: Iterable[_In], workers: int) -> Generator[_Out, None, None]:
    """Yield `function(item)` of every item, in order, with up to `workers` at work ahead of the consumer.

    With one worker nothing is done ahead, and nothing in another thread. An exception of `function` is raised in its
    turn. Once it is raised, or the generator is closed, what has not begun is not begun, and what has is waited for;
    but not where the user interrupts: a hub that sends nothing would keep them for a minute.
    """
    if workers == 1:
        yield from map(function, items)
        return
    pool = ThreadPoolExecutor(workers)
    ahead: deque[Future[_Out]] = deque()
    is_interrupted = False
    try:
        for item in items:
            ahead.append(pool.submit(function, item))
            if len(ahead) > workers:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()
    except BaseException as error:
        is_interrupted = isinstance(error, KeyboardInterrupt) or isinstance(error.__context__, KeyboardInterrupt)
        raise
    finally:
        pool.shutdown(wait=not is_interrupted, cancel_futures=True)
