"""The shell of a virtual SONiC switch: the commands of sonic-utilities that change and save CONFIG_DB.

Texts: sonic-utilities, config/main.py and generic_config_updater; see `dialect.yml`.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache

from railfab.errors import Problems, RailfabError
from railfab.platforms.shared.linux_files import USAGE, CommandFailed
from railfab.platforms.shared.virtual_cli import CliGrammar, cli_grammar
from railfab.platforms.shared.virtual_host import VirtualHost
from railfab.platforms.sonic.flex_counters import DISABLED, ENABLED, with_marks
from railfab.platforms.sonic.json_patch import Operation, patch, patched
from railfab.platforms.sonic.shell_shows import SonicShows
from railfab.platforms.sonic.tables import Tables, text, tree_of
from railfab.platforms.twin_face import VirtualDevice
from railfab.ssh import CliUser

CHECKPOINTS, SUFFIX = "/etc/sonic/checkpoints", ".cp.json"
STARTUP, RELEASE = "/etc/sonic/config_db.json", "/etc/sonic/sonic_version.yml"
SAVES = "Running command: /usr/local/bin/sonic-cfggen -d --print-data > {}"
MERGES = "Running command: /usr/local/bin/sonic-cfggen -j {} --write-to-db"
DRY_RUN = "** DRY RUN EXECUTION **"


class SonicShell(SonicShows):
    """A login at a virtual SONiC switch."""

    def banner(self) -> str:
        return self.text("banner")

    def configuration(self) -> str:
        return self.device.running()

    def check_patch(self, file: str) -> str:
        return f"{DRY_RUN}\n{self._patch(file, self.device.check)}"

    def apply_patch(self, file: str) -> str:
        return self._patch(file, self.device.replace)

    def _patch(self, file: str, use: Callable[[str], None]) -> str:
        """Use the configuration after the patch in a file. Raises CommandFailed."""
        operations = self._load(file, "apply-patch")
        former = self.tables()
        try:
            candidate = patched(former, operations)
            use(text(candidate))
        except (RailfabError, Problems) as error:
            raise self._refused("apply-patch", _reason(error)) from None
        return f"{_progress('Patch Applier: localhost', patch(former, candidate))}Patch applied successfully."

    def check_replacement(self, file: str) -> str:
        return f"{DRY_RUN}\n{self._replace(file, self.device.check)}"

    def replace(self, file: str) -> str:
        return self._replace(file, self.device.replace)

    def _replace(self, file: str, use: Callable[[str], None]) -> str:
        wanted = self._load(file, "replace")
        try:
            use(text(tree_of(json.dumps(wanted))))
        except (RailfabError, Problems) as error:
            raise self._refused("replace", _reason(error)) from None
        return "Config replaced successfully."

    def checkpoint(self, name: str) -> str:
        self.host.files.write(f"{CHECKPOINTS}/{name}{SUFFIX}", self.device.running())
        return "Checkpoint created successfully."

    def rollback(self, name: str) -> str:
        try:
            self.device.replace(self.host.files.read(self._checkpoint(name, "rollback")))
        except RailfabError as error:
            raise self._refused("rollback", _reason(error)) from None
        return "Config rolled back successfully."

    def delete_checkpoint(self, name: str) -> str:
        self.host.files.remove(self._checkpoint(name, "delete-checkpoint"))
        return "Checkpoint deleted successfully."

    def list_checkpoints(self) -> str:
        names = [name.removesuffix(SUFFIX) for name in self.host.files.names(CHECKPOINTS)]
        return json.dumps(names, indent=4)

    def load(self, file: str) -> str:
        tables = self.tables()
        for name, rows in tree_of(json.dumps(self._load(file, "load"))).items():
            table = tables.setdefault(name, {})
            for row, fields in rows.items():
                table[row] = table.get(row, {}) | fields
        self.device.replace(text(tables))
        return MERGES.format(file)

    def reload_startup(self) -> str:
        self.device.replace(self.device.startup())
        return MERGES.format(STARTUP)

    def count_marks(self) -> str:
        return self._poll_marks(ENABLED)

    def ignore_marks(self) -> str:
        return self._poll_marks(DISABLED)

    def _poll_marks(self, status: str) -> str:
        self.device.replace(text(with_marks(self.tables(), status)))
        return ""

    def save(self) -> str:
        self.device.save()
        return SAVES.format(STARTUP)

    def save_to(self, file: str) -> str:
        self.host.files.write(self.path(file), self.device.running())
        return SAVES.format(file)

    def reboot(self) -> str:
        self.device.restart()
        return ""

    def refusal(self, error: RailfabError) -> str:
        return f"Error: {_reason(error)}"

    def _load(self, file: str, verb: str) -> list[Operation] | Tables:
        """The JSON of a file. Raises CommandFailed."""
        try:
            loaded: list[Operation] | Tables = json.loads(self.host.files.read(self.path(file)))
        except OSError as error:
            raise self._refused(verb, f"[Errno {error.errno}] {error.strerror}: '{file}'") from None
        except ValueError as error:
            raise self._refused(verb, str(error)) from None
        return loaded

    def _checkpoint(self, name: str, verb: str) -> str:
        path = f"{CHECKPOINTS}/{name}{SUFFIX}"
        if not self.host.files.exists(path):
            raise self._refused(verb, f"Checkpoint '{name}' does not exist")
        return path

    def _refused(self, verb: str, reason: str) -> CommandFailed:
        failure, argument = FAILURES[verb]
        shown = failure.format(reason=reason)
        return CommandFailed(self.text("refused", failure=shown, verb=verb, argument=argument, reason=reason), USAGE)


FAILURES = {
    "apply-patch": ("apply patch due to: {reason}", "PATCH_FILE_PATH"),
    "replace": ("replace config", "TARGET_FILE_PATH"),
    "rollback": ("rollback config", "CHECKPOINT_NAME"),
    "delete-checkpoint": ("delete config checkpoint", "CHECKPOINT_NAME"),
    "load": ("load config", "FILENAME"),
}
"""Text of a command that fails, and the name of its argument."""


def _reason(error: Exception) -> str:
    """The reason of an error in one line, without its remedy."""
    if isinstance(error, Problems):
        return "; ".join(_reason(problem) for problem in error.errors)
    return f"{error.where} {error.problem}" if isinstance(error, RailfabError) else str(error)


def _progress(title: str, operations: list[Operation]) -> str:
    lines = ["Patch application starting.", f"Patch: {json.dumps(operations)}", "Patch application completed."]
    return "".join(f"{title}: {line}\n" for line in lines)


@cache
def grammar() -> CliGrammar:
    """The commands of the shell."""
    return cli_grammar(__package__ or "")


def logins(device: VirtualDevice) -> Callable[[CliUser], SonicShell]:
    """Make the logins of one switch, which share its files and timers."""
    generated = {STARTUP: device.startup, RELEASE: lambda: f"build_version: '{device.images.release}'\n"}
    folders = ("/etc/sonic", CHECKPOINTS, "/home/admin")
    host = VirtualHost.of(device, folders, generated)
    return lambda user: SonicShell(grammar(), host, user)
