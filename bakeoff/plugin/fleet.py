"""Hosts of a fleet, seen from the controller: which of them may take part, and what to do when one falls silent."""

import contextlib
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import execnet
import msgspec
import pytest

from bakeoff.errors import UsageProblem
from bakeoff.evaluate import arm_fingerprint, context_bound
from bakeoff.plugin.hosting import HostTold, Told
from bakeoff.plugin.options import Options
from bakeoff.plugin.planning import Plan
from bakeoff.validity.arm_checks import check_arm
from bakeoff.validity.pair_checks import check_pair
from bakeoff.wording import some

START_TIMEOUT_S = 900.0
"""How long a host may take to load its arms and to answer the probes."""

_EXAMINE = """
import sys
path, told = channel.receive()
if path:
    sys.path[:] = path
from bakeoff.plugin.hosting import examine
channel.send(examine(told))
"""


def host_specs(config: pytest.Config) -> tuple[str, ...]:
    """Return the execnet specifications of `--tx` when they name hosts; empty for plain local workers and without."""
    if not config.getoption("tx", default=None):
        return ()
    from xdist.workermanage import parse_tx_spec_config  # noqa: PLC0415 - only where xdist is in use

    specs = [execnet.XSpec(text) for text in parse_tx_spec_config(config)]
    is_fleet = any(s.ssh or s.socket or s.via or s.python or s.chdir or s.env for s in specs)
    return tuple(map(str, specs)) if is_fleet else ()


def host_name(spec: Any) -> str:
    """Return what a host is called in records: its address without the user, or its folder on this machine."""
    address = spec.ssh or spec.socket or spec.vagrant_ssh
    if address:
        return str(address).split(" ")[-1].rpartition("@")[2]
    return str(spec.chdir or spec.python or "local").rstrip("/").rpartition("/")[2]


def admit(
    specs: tuple[str, ...], plan: Plan, options: Options, tell: Callable[[str], None]
) -> tuple[tuple[str, ...], HostTold]:
    """Examine all hosts at once and return those that may take part, and what the first of them told.

    The first host in the order given that answers is what the others are measured by.

    Raises:
        UsageProblem: when none may.
    """
    told = _told(plan, options)
    distinct = tuple(dict.fromkeys(specs))
    tell(f"examining {some(len(distinct), 'host')}")
    with ThreadPoolExecutor(max_workers=len(distinct)) as pool:
        answers = dict(zip(distinct, pool.map(lambda spec: _ask(spec, told), distinct), strict=True))
    accepted: dict[str, HostTold] = {}
    reasons = []
    for spec, answer in answers.items():
        first = next(iter(accepted.values()), None)
        reason = answer if isinstance(answer, str) else what_differs(first, answer, plan)
        if isinstance(answer, HostTold) and reason is None:
            accepted[spec] = answer
        else:
            reasons.append(f"host {host_name(execnet.XSpec(spec))} is left out: {reason}")
            tell(reasons[-1])
    if not accepted:
        raise UsageProblem("no host can take part.\n" + "\n".join(reasons))
    return tuple(spec for spec in specs if spec in accepted), next(iter(accepted.values()))


def what_differs(first: HostTold | None, other: HostTold, plan: Plan) -> str | None:
    """Return why a host may not take part beside `first`, None when it may; alone it only has to answer the probes."""
    for name, track in plan.tracks.items():
        if other.samples_sha256.get(name) != track.samples_sha256:
            return f"its samples of {name} are not prepared, or are others than here"
    for arm, there in other.arms.items():
        silent = [f for f in (check_arm(there.probe) if there.probe else ()) if f.kind == "error"]
        if silent:
            return silent[0].sentence
        if first is None:
            continue
        mine, theirs = (_inputs(plan, arm, host.arms[arm].identity) for host in (first, other))
        for field in sorted(mine.keys() | theirs.keys()):
            if mine.get(field) != theirs.get(field):
                return f"{field} is {theirs.get(field)!r} there and {mine.get(field)!r} on the first host"
        probe = first.arms[arm].probe
        if probe is not None and there.probe is not None:
            renamed = msgspec.structs.replace(there.probe, arm=f"{arm} there")
            serious = [finding for finding in check_pair(probe, renamed) if finding.serious]
            if serious:
                return f"the parity probe differs: {serious[0].sentence}"
    return None


class Watch:
    """Asks every host now and then whether it is there, and cuts off one that does not answer in time.

    The answer comes from execnet's own thread on the host, so a host that computes is not silent; a stopped process, a
    frozen machine or a cut network is.
    """

    def __init__(self, silent_s: float, tell: Callable[[str], None]) -> None:
        self._silent_s = silent_s
        self._tell = tell
        self._ended = threading.Event()
        self._gateways: dict[str, Any] = {}
        self._thread = threading.Thread(target=self._run, name="fleet watch", daemon=True)

    def add(self, gateway: Any) -> None:
        """Watch a host from now on."""
        self._gateways[gateway.id] = gateway
        if not self._thread.is_alive():
            self._thread.start()

    def remove(self, gateway: Any) -> None:
        """Watch it no longer."""
        self._gateways.pop(gateway.id, None)

    def close(self) -> None:
        """End the watch."""
        self._ended.set()

    def _run(self) -> None:
        while not self._ended.wait(self._silent_s / 3):
            asked = {name: _asked(gateway) for name, gateway in tuple(self._gateways.items())}
            self._ended.wait(self._silent_s / 3)
            for name, answered in asked.items():
                gateway = self._gateways.get(name)
                if gateway is None or self._ended.is_set() or answered.wait(self._silent_s * 2 / 3):
                    continue
                self._gateways.pop(name, None)
                self._tell(f"host {host_name(gateway.spec)} has been silent for {self._silent_s:.0f} s: it is cut off")
                gateway._io.kill()  # noqa: SLF001 - what execnet's own Group.terminate does to such a host


def is_reachable(spec: Any, timeout_s: float) -> bool:
    """Return whether a new connection to a host comes up."""
    group = execnet.Group()
    done = threading.Event()

    def connect() -> None:
        try:
            group.makegateway(str(spec)).remote_exec("pass").waitclose(timeout_s)
        except Exception:  # noqa: BLE001 - whatever it is, the host cannot be used
            return
        done.set()

    threading.Thread(target=connect, daemon=True).start()
    is_there = done.wait(timeout_s)
    if is_there:
        group.terminate(timeout=2)
    return is_there


def _asked(gateway: Any) -> threading.Event:
    """Ask a host for its status; the event is set when it answers, or is gone, which xdist finds out by itself."""
    answered = threading.Event()

    def ask() -> None:
        with contextlib.suppress(Exception):  # a closed connection is reported by xdist
            gateway.remote_status()
        answered.set()

    threading.Thread(target=ask, daemon=True).start()
    return answered


def _ask(spec: str, told: str) -> HostTold | str:
    """Return what a host tells, or why it cannot take part."""
    import sys  # noqa: PLC0415 - for its path alone

    group = execnet.Group()
    try:
        gateway = group.makegateway(spec)
        channel = gateway.remote_exec(_EXAMINE)
        channel.send((list(sys.path) if gateway.spec.popen else None, told))
        return msgspec.json.decode(channel.receive(timeout=START_TIMEOUT_S), type=HostTold)
    except Exception as error:  # noqa: BLE001 - whatever it is, this host is left out and the others go on
        lines = str(error).strip().splitlines()
        return lines[-1] if lines else type(error).__name__
    finally:
        group.terminate(timeout=5)


def _told(plan: Plan, options: Options) -> str:
    prompts = {spec.arm: plan.prompts(spec.arm) for spec in plan.arms}
    has_images = any(prompt.images for found in prompts.values() for prompt in found.values())
    told = Told(
        models=tuple(spec.name for spec in plan.arms),
        tracks=tuple(plan.tracks),
        contexts={arm: max(4096, context_bound(found.values())) for arm, found in prompts.items()},
        has_images=has_images,
        parity=options.parity,
        thinking=options.thinking,
        image_reuse=options.image_reuse,
        timeout_s=options.timeout_s,
        llama_server=options.llama_server,
        server_args=options.server_args,
    )
    return msgspec.json.encode(told).decode("utf-8")


def _inputs(plan: Plan, arm: str, identity: Mapping[str, Any]) -> dict[str, Any]:
    backend = next(spec.backend for spec in plan.arms if spec.arm == arm)
    return arm_fingerprint(backend, identity, plan.asking, ())
