"""What the rest of the suite knows of a backend before it is loaded: one declaration beside each backend."""

import importlib.util
from collections.abc import Callable, Set as AbstractSet
from typing import Literal

import msgspec

from bakeoff.backends.backend import Backend, Settings
from bakeoff.backends.memory import DeviceMemory
from bakeoff.spec import ModelSpec, folder_or_repository


def safetensors(spec: ModelSpec, names: AbstractSet[str]) -> AbstractSet[str]:
    """Return all files of a repository that has safetensors."""
    del spec
    return names if any(name.endswith(".safetensors") for name in names) else frozenset()


class Facts(msgspec.Struct, frozen=True, kw_only=True):
    """A backend by name. Only `name`, `title` and `opens` have to be said.

    Attributes:
        name: how records and the command line call it; never changed, because stored runs name it.
        title: how people call it.
        about: what a list of arms adds to the title, in brackets.
        opens: loads a model; whatever takes long to import is imported in it. Raises what `open_backend` does.
        reads: makes a ModelSpec of a name typed after `--model`, None when the name is of another form; without it
            names are `<name>:<folder or owner/name>[@revision]`.
        spelled: the forms of names that `reads` knows, as they are shown to people.
        aliases: names that need no form.
        embedded: names of the checkpoint that comes with the suite.
        model_in: where the weights are while an arm answers. `process`: in pytest's own, so that several workers
            would mean several copies. `child`: in a process that pytest starts. `servers`: on machines that somebody
            else looks after. `nowhere`: there is no model.
        packages: modules that must be importable.
        extra: the extra of this project that installs them.
        why_not: why it cannot run on this machine, None when it can; asked instead of looking for `packages`.
        mark: which of the report's three coloured marks its arms have (a blue disc, an orange square, a plum
            triangle, by the names that the page's style sheet has for them); without one, a ring, and crosses for
            further backends of a run.
        cached: the files that a name means among those of a repository in the hub's cache, by name; empty when
            some of its weights are not there.
        device: the device's own account of its memory, called when an arm is open.
    """

    name: str
    title: str
    opens: Callable[[ModelSpec, Settings], Backend]
    about: str = ""
    reads: Callable[[str], ModelSpec | None] | None = None
    spelled: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    embedded: tuple[str, ...] = ()
    model_in: Literal["process", "child", "servers", "nowhere"] = "process"
    packages: tuple[str, ...] = ()
    extra: str | None = None
    why_not: Callable[[], str | None] | None = None
    mark: Literal["mlx", "gguf", "coreai"] | None = None
    cached: Callable[[ModelSpec, AbstractSet[str]], AbstractSet[str]] = safetensors
    device: Callable[[], DeviceMemory] | None = None

    @property
    def forms(self) -> tuple[str, ...]:
        """How names are written that are no aliases; nothing where no name is offered to people."""
        return (f"{self.name}:<folder or owner/name>[@revision]",) if self.reads is None else self.spelled

    @property
    def long_title(self) -> str:
        """The title with what a list of arms adds to it."""
        return f"{self.title} ({self.about})" if self.about else self.title

    def read_name(self, name: str) -> ModelSpec | None:
        """Return what a typed name means, None when it has no form of this backend.

        Raises:
            UsageProblem: when it has one, but not all parts of it.
        """
        return folder_or_repository(name, self.name) if self.reads is None else self.reads(name)

    def why_not_here(self) -> str | None:
        """Return why it cannot run on this machine, None when what it needs is there; loads nothing."""
        if self.why_not is not None:
            return self.why_not()
        missing = [package for package in self.packages if importlib.util.find_spec(package) is None]
        how = f": uv sync --extra {self.extra}" if self.extra else ""
        return f"package {', '.join(missing)} is not installed{how}" if missing else None
