"""Commands of Linux for files and texts, on a virtual switch. Texts of failures: GNU coreutils."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TypeAlias

from railfab.platforms.shared.root_shell import CommandResult
from railfab.platforms.shared.virtual_host import LinuxLogin

Stdin: TypeAlias = Callable[[], str]
LinuxCommand: TypeAlias = Callable[[LinuxLogin, Sequence[str], Stdin], CommandResult]
USAGE = 2
"""Exit status of a command that is used in a wrong way."""


class CommandFailed(Exception):
    """A command that fails. errors: its standard error. out: its standard output until then."""

    def __init__(self, errors: str, status: int = 1, *, out: str = "") -> None:
        super().__init__(errors)
        self.result = CommandResult(status, out, f"{errors}\n" if errors else "")


def text_result(text: str = "") -> CommandResult:
    """Standard output of a command that succeeds."""
    return CommandResult(0, text, "")


def options(words: Sequence[str]) -> tuple[frozenset[str], list[str]]:
    """The letters of the options, `rf` of `-rf`, and the operands."""
    operands = [word for word in words if not word.startswith("-") or word == "-"]
    letters = frozenset("".join(word for word in words if word.startswith("-") and not word.startswith("--"))) - {"-"}
    return letters, operands


def _each(name: str, action: Callable[[str], object], paths: Sequence[str], failure: str) -> CommandResult:
    """Do this to each path; failure: text of one, with the path and the reason."""
    errors = ""
    for path in paths:
        try:
            action(path)
        except OSError as error:
            errors += f"{name}: {failure.format(path=path, reason=error.strerror)}\n"
    return CommandResult(1 if errors else 0, "", errors)


def cat(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    out = ""

    def show(path: str) -> None:
        nonlocal out
        out += stdin() if path == "-" else _read(shell, path)

    shown = _each("cat", show, options(words)[1] or ["-"], "{path}: {reason}")
    return CommandResult(shown.status, out, shown.errors)


def _read(shell: LinuxLogin, path: str) -> str:
    return shell.host.files.read(shell.path(path))


def tee(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    letters, paths = options(words)
    text = stdin()

    def write(path: str) -> None:
        shell.check_writable(shell.path(path))
        shell.host.files.write(shell.path(path), text, appends="a" in letters)

    written = _each("tee", write, paths, "{path}: {reason}")
    return CommandResult(written.status, text, written.errors)


def rm(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    letters, paths = options(words)

    def remove(path: str) -> None:
        path = shell.path(path)
        if "f" in letters and not shell.host.files.exists(path):
            return
        shell.check_writable(path)
        shell.host.files.remove(path, recursive=bool(letters & {"r", "R"}))

    return _each("rm", remove, paths, "cannot remove '{path}': {reason}")


def mkdir(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    words = [word for place, word in enumerate(words) if word != "-m" and words[place - 1 : place] != ["-m"]]
    letters, paths = options(words)

    def make(path: str) -> None:
        shell.check_writable(shell.path(path))
        shell.host.files.make_folder(shell.path(path), parents="p" in letters)

    return _each("mkdir", make, paths, "cannot create directory ‘{path}’: {reason}")


def rmdir(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    def remove(path: str) -> None:
        shell.check_writable(shell.path(path))
        shell.host.files.remove_folder(shell.path(path))

    return _each("rmdir", remove, options(words)[1], "failed to remove '{path}': {reason}")


def mv(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    *paths, new = _operands("mv", words, least=2)

    def move(path: str) -> None:
        for each in (path, new):
            shell.check_writable(shell.path(each))
        shell.host.files.rename(shell.path(path), shell.path(new))

    return _each("mv", move, paths, "cannot move '{path}': {reason}")


def cp(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    *paths, new = _operands("cp", words, least=2)

    def copy(path: str) -> None:
        place = shell.path(new)
        if shell.host.files.is_folder(place):
            place = posixpath.join(place, posixpath.basename(path))
        shell.check_writable(place)
        shell.host.files.write(place, _read(shell, path))

    return _each("cp", copy, paths, "cannot copy '{path}': {reason}")


def _operands(name: str, words: Sequence[str], *, least: int) -> list[str]:
    operands = options(words)[1]
    if len(operands) < least:
        raise CommandFailed(f"{name}: missing file operand")
    return operands


def ls(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    out = ""

    def show(path: str) -> None:
        nonlocal out
        place = shell.path(path)
        names = shell.host.files.names(place) if shell.host.files.is_folder(place) else [path]
        if names == [path]:
            shell.host.files.read(place)
        out += "".join(f"{name}\n" for name in names)

    shown = _each("ls", show, options(words)[1] or ["~/"], "cannot access '{path}': {reason}")
    return CommandResult(USAGE if shown.errors else 0, out, shown.errors)


def echo(_shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    if words[:1] == ["-n"]:
        return text_result(" ".join(words[1:]))
    return text_result(f"{' '.join(words)}\n")


def test(shell: LinuxLogin, words: Sequence[str], _stdin: Stdin) -> CommandResult:
    """Answer `test` for files and texts: `-e`, `-f`, `-d`, `-z`, `-n`, `=`, `!=` and `!`."""
    return CommandResult(0 if _holds(shell, words) else 1, "", "")


def _holds(shell: LinuxLogin, words: Sequence[str]) -> bool:
    files = shell.host.files
    match list(words):
        case ["!", *rest]:
            return not _holds(shell, rest)
        case ["-e", path]:
            return files.exists(shell.path(path))
        case ["-f", path]:
            place = shell.path(path)
            return shell.host.image(place) is not None or (files.exists(place) and not files.is_folder(place))
        case ["-d", path]:
            return files.is_folder(shell.path(path))
        case ["-z", text]:
            return not text
        case ["-n", text] | [text]:
            return bool(text)
        case [left, "=", right]:
            return left == right
        case [left, "!=", right]:
            return left != right
    raise CommandFailed("-bash: test: syntax error", USAGE)


def checksums(algorithm: str, shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    """Answer the digests of files; `-c --status` compares them with a list."""
    paths = options(words)[1] or ["-"]
    if "-c" in words:
        text = stdin() if paths == ["-"] else _read(shell, paths[0])
        same = [
            _digest(algorithm, shell, name) == digest
            for digest, _, name in (each.partition("  ") for each in text.split("\n") if each)
        ]
        return CommandResult(0 if same and all(same) else 1, "", "")
    return text_result("".join(f"{_digest(algorithm, shell, path, stdin)}  {path}\n" for path in paths))


def _digest(algorithm: str, shell: LinuxLogin, path: str, stdin: Stdin = str) -> str:
    if (image := shell.host.image(shell.path(path))) is not None:
        return image.checksum(algorithm)
    text = stdin() if path == "-" else _read(shell, path)
    return hashlib.new(algorithm, text.encode()).hexdigest()


def grep(shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    letters, operands = options(words)
    pattern, *paths = operands or [""]
    text = "".join(_read(shell, path) for path in paths) if paths else stdin()
    search = re.compile(re.escape(pattern) if "F" in letters else pattern, re.IGNORECASE if "i" in letters else 0)
    lines = [line for line in text.splitlines() if (search.search(line) is None) == ("v" in letters)]
    out = "" if "q" in letters else "".join(f"{line}\n" for line in lines)
    return CommandResult(0 if lines else 1, out, "")


def head(_shell: LinuxLogin, words: Sequence[str], stdin: Stdin) -> CommandResult:
    count = next((int(word.removeprefix("-n").lstrip("-")) for word in words if word.strip("-n").isdigit()), 10)
    return text_result("".join(stdin().splitlines(keepends=True)[:count]))


FILE_COMMANDS: Mapping[str, LinuxCommand] = {
    **{"cat": cat, "cp": cp, "echo": echo, "grep": grep, "head": head, "ls": ls, "mkdir": mkdir, "mv": mv, "rm": rm},
    **{"rmdir": rmdir, "tee": tee, "test": test},
    **{f"{algorithm}sum": partial(checksums, algorithm) for algorithm in ("md5", "sha256", "sha512")},
}
"""Commands by name."""
