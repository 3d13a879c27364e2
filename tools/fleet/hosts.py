"""Three hosts on one Linux machine: a network namespace, an SSH daemon, a home and an installed package each.

Needs root, `ip` (iproute2), `sshd` (openssh-server) and uv. A host is cut off as a pulled cable does it: its end of the
link goes down, nothing is closed and nobody is told.
"""

import contextlib
import os
import shutil
import subprocess
import sysconfig
import venv
from collections.abc import Iterator
from pathlib import Path

import psutil

NAMES = ("north", "south", "west")
_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/sbin"
_NEEDED = ("sshd", "ip", "ssh-keygen", "uv")
_SSHD, _IP, _KEYGEN, _UV = (shutil.which(name, path=_PATH) or "" for name in _NEEDED)
_DAEMON = """\
ListenAddress {address}
HostKey {keys}/host
PidFile {folder}/sshd.pid
AuthorizedKeysFile {keys}/user.pub
StrictModes no
UsePAM no
PermitRootLogin yes
PasswordAuthentication no
"""
_CLIENT = """\
Host {name}
  HostName {address}
  IdentityFile {keys}/user
  UserKnownHostsFile {keys}/known
  BatchMode yes
"""


def what_lacks() -> str | None:
    """Return why hosts cannot be made here; None when they can."""
    missing = [name for name in _NEEDED if shutil.which(name, path=_PATH) is None]
    if missing:
        return f"{', '.join(missing)} is missing: apt-get install openssh-server iproute2, and uv"
    return None if os.geteuid() == 0 else "network namespaces need root"


class Host:
    """One of the hosts; its number makes its address."""

    def __init__(self, name: str, number: int, folder: Path, keys: Path) -> None:
        self.name = name
        self.folder = folder / name
        self.address = f"198.18.{number}.2"
        self._near = f"198.18.{number}.1"
        self._space = f"bakeoff-{os.getpid()}-{name}"
        self._link = f"bk{os.getpid()}{name[0]}"  # names of links have 15 letters at most
        self._keys = keys
        self._daemon: subprocess.Popen[bytes] | None = None

    @property
    def spec(self) -> str:
        """What stands behind `--tx`."""
        words = {
            "ssh": self.name,
            "ssh_config": self._keys / "ssh_config",
            "python": self.folder / "venv" / "bin" / "python",
            "chdir": self.folder,
            "env:HOME": self.folder,
            "env:BAKEOFF_DATA": self.folder / "data",
        }
        return "//".join(f"{word}={value}" for word, value in words.items())

    def start(self, wheel: Path, data: Path) -> None:
        """Install the package, copy the samples, connect the host and start its daemon."""
        venv.create(self.folder / "venv", with_pip=False)
        python = self.folder / "venv" / "bin" / "python"
        _do(_UV, "pip", "install", "--quiet", "--no-deps", "--python", str(python), str(wheel))
        (packages,) = (self.folder / "venv").glob("lib/python*/site-packages")
        shared = f"import site; site.addsitedir({sysconfig.get_paths()['purelib']!r})\n"
        (packages / "shared.pth").write_text(shared, "utf-8")  # what the package depends on, and takes a gigabyte
        shutil.copytree(data, self.folder / "data")
        _do(_IP, "netns", "add", self._space)
        _do(_IP, "link", "add", self._link, "type", "veth", "peer", "name", "eth0", "netns", self._space)
        _do(_IP, "address", "add", f"{self._near}/30", "dev", self._link)
        _do(_IP, "link", "set", self._link, "up")
        _do(_IP, "-n", self._space, "address", "add", f"{self.address}/30", "dev", "eth0")
        for device in ("lo", "eth0"):
            _do(_IP, "-n", self._space, "link", "set", device, "up")
        settings = self.folder / "sshd_config"
        settings.write_text(_DAEMON.format(address=self.address, keys=self._keys, folder=self.folder), "utf-8")
        with (self.folder / "sshd.log").open("wb") as log:
            command = [_IP, "netns", "exec", self._space, _SSHD, "-D", "-e", "-f", str(settings)]
            self._daemon = subprocess.Popen(command, stderr=log)

    def kill(self) -> None:
        """End everything that runs on the host but its daemon, with -9."""
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                if not process.name().startswith("sshd"):
                    process.kill()

    def cut_off(self) -> None:
        """Pull the cable."""
        _do(_IP, "-n", self._space, "link", "set", "eth0", "down")

    def stop(self) -> None:
        """End what runs on the host and take it away."""
        for process in self._processes():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if self._daemon is not None:
            self._daemon.kill()
            self._daemon.wait()
        for words in (("link", "delete", self._link), ("netns", "delete", self._space)):
            subprocess.run([_IP, *words], check=False, stderr=subprocess.DEVNULL)

    def _processes(self) -> list[psutil.Process]:
        told = subprocess.run([_IP, "netns", "pids", self._space], capture_output=True, text=True, check=False).stdout
        found = []
        for pid in map(int, told.split()):
            with contextlib.suppress(psutil.NoSuchProcess):
                found.append(psutil.Process(pid))
        return found


@contextlib.contextmanager
def three_hosts(folder: Path, wheel: Path, data: Path) -> Iterator[tuple[Host, ...]]:
    """Give three hosts that are there while the context is open; `data` is copied to each."""
    keys = folder / "keys"
    keys.mkdir(parents=True)
    Path("/run/sshd").mkdir(exist_ok=True)  # where Debian's daemon wants to be locked in
    for name in ("host", "user"):
        _do(_KEYGEN, "-q", "-t", "ed25519", "-N", "", "-f", str(keys / name))
    hosts = tuple(Host(name, number, folder, keys) for number, name in enumerate(NAMES))
    public = (keys / "host.pub").read_text("utf-8")
    (keys / "known").write_text("".join(f"{host.address} {public}" for host in hosts), "utf-8")
    clients = "".join(_CLIENT.format(name=host.name, address=host.address, keys=keys) for host in hosts)
    (keys / "ssh_config").write_text(clients, "utf-8")
    try:
        for host in hosts:
            host.start(wheel, data)
        yield hosts
    finally:
        for host in hosts:
            host.stop()


def build_wheel(folder: Path) -> Path:
    """Build the package into `folder` and return the file."""
    _do(_UV, "build", "--quiet", "--wheel", "--out-dir", str(folder))
    (wheel,) = folder.glob("*.whl")
    return wheel


def _do(*command: str) -> None:
    subprocess.run(command, check=True)
