"""The files of a virtual switch that runs Linux: entries of a dictionary, never files of the serving machine."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Mapping
from errno import EEXIST, EISDIR, ENOENT, ENOSPC, ENOTDIR, ENOTEMPTY, EROFS
from os import strerror
from threading import RLock

OF_ONE_BOOT = ("/run", "/tmp")
"""Folders in memory, whose files end with the power of a switch."""
FOLDERS = ("/", "/dev", "/etc", "/home", "/root", *OF_ONE_BOOT)
SINK = "/dev/null"
LINKS = {"/var/run": "/run"}
MOST_BYTES = 1 << 26
"""Space of all files of a switch [bytes]."""


class VirtualFiles:
    """Files by absolute path, each a text, and folders. Failures are OSErrors, as of a real file system.

    boots: the number of boots so far. folders: in addition to FOLDERS. generated: texts of files that nobody writes.
    most_bytes: space of all files.
    """

    def __init__(
        self,
        boots: Callable[[], int],
        folders: Iterable[str] = (),
        generated: Mapping[str, Callable[[], str]] | None = None,
        *,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self.most_bytes = most_bytes
        self._boots = boots
        self._booted = boots()
        self._folders = {*FOLDERS, *folders}
        self._generated = dict(generated or {})
        self._texts: dict[str, str] = {SINK: ""}
        self._lock = RLock()

    def read(self, path: str) -> str:
        with self._lock:
            path = self._place(path)
            if path in self._folders:
                raise _error(EISDIR, path)
            if path in self._generated:
                return self._generated[path]()
            if path not in self._texts:
                raise _error(ENOENT, path)
            return self._texts[path]

    def write(self, path: str, text: str, *, appends: bool = False) -> None:
        """Write a file. Without space it is created empty, as a shell does before its command fails."""
        with self._lock:
            path = self._new_place(path)
            if path in self._folders:
                raise _error(EISDIR, path)
            if path in self._generated:
                raise _error(EROFS, path)
            if path == SINK:
                return
            former = self._texts.get(path, "") if appends else ""
            self._texts[path] = former
            if self._used() + len(text) > self.most_bytes:
                raise _error(ENOSPC, path)
            self._texts[path] = former + text

    def exists(self, path: str) -> bool:
        with self._lock:
            path = self._place(path)
            return path in self._texts or path in self._folders or path in self._generated

    def is_folder(self, path: str) -> bool:
        with self._lock:
            return self._place(path) in self._folders

    def make_folder(self, path: str, *, parents: bool = False) -> None:
        with self._lock:
            path = self._place(path)
            if parents and posixpath.dirname(path) not in self._folders:
                self.make_folder(posixpath.dirname(path), parents=True)
            path = self._new_place(path)
            if path in self._texts or (path in self._folders and not parents):
                raise _error(EEXIST, path)
            self._folders.add(path)

    def rename(self, path: str, new: str) -> None:
        """Move a file, or a folder with all in it; into a folder that exists."""
        with self._lock:
            path, new = self._place(path), self._new_place(new)
            if not self.exists(path):
                raise _error(ENOENT, path)
            if new in self._folders:
                new = posixpath.join(new, posixpath.basename(path))
            self._texts = {_moved(each, path, new): text for each, text in self._texts.items() if each != new}
            self._folders = {_moved(each, path, new) for each in self._folders}

    def remove(self, path: str, *, recursive: bool = False) -> None:
        """Remove a file; recursive: or a folder and all that is in it."""
        with self._lock:
            path = self._place(path)
            if not self.exists(path):
                raise _error(ENOENT, path)
            if path in self._folders and not recursive:
                raise _error(EISDIR, path)
            inside = f"{path}/"
            self._texts = {
                each: text for each, text in self._texts.items() if each != path and not each.startswith(inside)
            }
            self._folders = {each for each in self._folders if each != path and not each.startswith(inside)}

    def remove_folder(self, path: str) -> None:
        """Remove an empty folder."""
        with self._lock:
            path = self._place(path)
            if path not in self._folders:
                raise _error(ENOTDIR if path in self._texts else ENOENT, path)
            if self.names(path):
                raise _error(ENOTEMPTY, path)
            self._folders.discard(path)

    def names(self, folder: str) -> list[str]:
        """Names in a folder, sorted."""
        with self._lock:
            folder = self._place(folder)
            if folder not in self._folders:
                raise _error(ENOTDIR if folder in self._texts else ENOENT, folder)
            paths = {*self._texts, *self._folders, *self._generated} - {"/"}
            return sorted(posixpath.basename(path) for path in paths if posixpath.dirname(path) == folder)

    def _used(self) -> int:
        return sum(map(len, self._texts.values()))

    def _place(self, path: str) -> str:
        """The absolute path, after forgetting what the last boot has ended."""
        if self._booted != self._boots():
            self._booted = self._boots()
            self._texts = {each: text for each, text in self._texts.items() if not _is_of_one_boot(each)}
            self._folders = {each for each in self._folders if not _is_of_one_boot(each)}
        path = posixpath.normpath(posixpath.join("/", path))
        for link, folder in LINKS.items():
            if path == link or path.startswith(f"{link}/"):
                return folder + path.removeprefix(link)
        return path

    def _new_place(self, path: str) -> str:
        path = self._place(path)
        if posixpath.dirname(path) not in self._folders:
            raise _error(ENOENT, path)
        return path


def _is_of_one_boot(path: str) -> bool:
    return any(path.startswith(f"{folder}/") for folder in OF_ONE_BOOT)


def _moved(path: str, former: str, new: str) -> str:
    return new + path.removeprefix(former) if path == former or path.startswith(f"{former}/") else path


def _error(number: int, path: str) -> OSError:
    return OSError(number, strerror(number), path)
