"""The origin `cli`: commands of a target's CLI in a Get, and lines of configuration in a Set.

A command is the only element of a path, as gnmic writes `cli:/show version`. Lines are an ASCII value without a path
(OpenConfig, Mixing Schemas in gNMI); those of several updates are one text, in their order.
"""

from __future__ import annotations

from railfab.gnmi import messages
from railfab.gnmi.extensions import refuse_extensions
from railfab.gnmi.target import CommandTarget, GnmiTarget, RequestRefused
from railfab.gnmi.values import ASCII, JSON, JSON_IETF

CLI = "cli"
_FIELDS = {ASCII: "ascii_val", JSON: "json_val", JSON_IETF: "json_ietf_val"}


def command_target(target: GnmiTarget, prefix: messages.Path, path: messages.Path) -> CommandTarget | None:
    """The target, where a path is of its CLI and it takes commands."""
    is_command = CLI in (prefix.origin, path.origin)
    return target if is_command and isinstance(target, CommandTarget) and target.takes_commands else None


def command_update(target: CommandTarget, path: messages.Path, encoding: int) -> messages.Update:
    """The answer to a command. Raises RequestRefused."""
    if encoding not in _FIELDS or len(path.elem) != 1 or path.elem[0].key:
        problem = "a path of the origin 'cli' is no command in ASCII, JSON or JSON_IETF"
        raise RequestRefused(target.name, problem, "Ask for `cli:/show version`")
    answer = target.run_command(path.elem[0].name, as_json=encoding != ASCII)
    value: str | bytes = answer if encoding == ASCII else answer.encode()
    return messages.Update(path=path, val=messages.TypedValue(**{_FIELDS[encoding]: value}))


def run_lines(target: GnmiTarget, request: messages.SetRequest) -> bool:
    """Run the lines of configuration of a Set; False for one of the target's models. Raises RequestRefused.

    What a replace or a delete of lines does, no source shows, and the order of lines and models in one Set neither.
    """
    paths = [*request.delete, *[entry.path for entry in (*request.replace, *request.union_replace, *request.update)]]
    commands = [taker for path in paths if (taker := command_target(target, request.prefix, path))]
    if not commands:
        return False
    refuse_extensions(target.name, request.extension)
    if len(commands) < len(paths) or len(request.update) < len(paths):
        raise RequestRefused(
            target.name, "the origin 'cli' beside other operations than its updates", "Send those alone"
        )
    if any(entry.val.WhichOneof("value") != "ascii_val" or entry.path.elem for entry in request.update):
        raise RequestRefused(
            target.name, "CLI origin encoding should be ASCII", "Send lines as ascii_val, without a path"
        )
    commands[0].configure_lines("\n".join(entry.val.ascii_val for entry in request.update))
    return True
