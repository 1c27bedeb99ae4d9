"""The address, CA and login of an API server: those of a kubeconfig, or of the pod that railfab runs in."""

from __future__ import annotations

import base64
import binascii
import os
import ssl
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from railfab.deploy.schedulers.api_server import ApiServer
from railfab.deploy.schedulers.contract import SchedulerError
from railfab.yaml_reader.composer import YamlLimits
from railfab.yaml_reader.files import UnreadableFile, file_text
from railfab.yaml_reader.sections import Faulty, values_in
from railfab.yaml_reader.values import CORE_TAGS

MAX_BYTES = 10_000_000
LIMITS = YamlLimits(depth=60, expanded=100_000, merged_keys=100_000, unique_levels=60, tags=CORE_TAGS)
HTTPS = 443
IN_POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
NOT_TAKEN = {
    "exec": "logs in by a plugin",
    "auth-provider": "logs in by a plugin",
    "username": "logs in with a password, which Kubernetes removed in 1.19",
}
"""Ways to log in, by their key in a kubeconfig."""


def server_of_kubeconfig(path: Path, context: str | None = None) -> ApiServer:
    """The API server of a context of a kubeconfig, or of its current one. Raises SchedulerError."""
    return _Kubeconfig(path, _document(path)).server(context)


def server_of_pod(environment: Mapping[str, str], folder: Path = IN_POD) -> ApiServer:
    """The API server of the pod that this process runs in, with its service account. Raises SchedulerError."""
    host, port = environment.get("KUBERNETES_SERVICE_HOST"), environment.get("KUBERNETES_SERVICE_PORT", "")
    if not host or not port.isdecimal():
        problem = "no kubeconfig is named, and railfab runs in no pod"
        raise SchedulerError("change.scheduler", problem, "Name one in change.scheduler.kubeconfig")
    tls = ssl.create_default_context()
    with _readable(folder / "ca.crt"):
        tls.load_verify_locations(folder / "ca.crt")
    return ApiServer(host=host, port=int(port), tls=tls, login=_token_of(folder / "token"), source=str(folder))


def _document(path: Path) -> dict[str, Any]:
    try:
        values, _ = values_in(file_text(path, MAX_BYTES), LIMITS)
    except UnreadableFile as error:
        raise SchedulerError(str(path), error.problem, "Correct change.scheduler.kubeconfig") from None
    except Faulty as error:  # the text of a fault may have a token in it
        raise SchedulerError(f"{path}:{error.fault.line}", "invalid YAML", "Correct its syntax") from None
    if not isinstance(values, dict):
        raise SchedulerError(str(path), "is no kubeconfig", "Correct change.scheduler.kubeconfig")
    return values


@dataclass(frozen=True, slots=True)
class _Kubeconfig:
    """A kubeconfig. Paths in it are relative to its folder."""

    path: Path
    document: Mapping[str, Any]

    def server(self, context: str | None) -> ApiServer:
        chosen = self._entry("context", context or self.document.get("current-context"))
        cluster = self._entry("cluster", chosen.get("cluster"))
        user = self._entry("user", chosen.get("user"))
        url = urlsplit(str(cluster.get("server") or ""))
        if url.scheme != "https" or not url.hostname:
            raise self._error("its server has no https address", "Name a context whose server is https://HOST:PORT")
        for key in ("insecure-skip-tls-verify", "proxy-url"):
            if cluster.get(key):
                raise self._error(f"sets {key}, which railfab does not take", "Use a context without it")
        return ApiServer(
            host=url.hostname,
            port=url.port or HTTPS,
            prefix=url.path.rstrip("/"),
            tls=self._tls(cluster, user),
            tls_name=cluster.get("tls-server-name"),
            login=self._login(user),
            source=str(self.path),
        )

    def _entry(self, kind: str, name: object) -> Mapping[str, Any]:
        """The cluster, user or context of a name."""
        entries = self.document.get(f"{kind}s")
        for entry in entries if isinstance(entries, list) else ():
            if isinstance(entry, dict) and entry.get("name") == name and isinstance(entry.get(kind), dict):
                return dict(entry[kind])
        if kind == "context":
            raise self._error(f"has no context {name!r}", "Name one of it in change.scheduler.context")
        raise self._error(f"has no {kind} {name!r}, which its context names", "Correct it")

    def _tls(self, cluster: Mapping[str, Any], user: Mapping[str, Any]) -> ssl.SSLContext:
        """Verification by the CA of the cluster, by those of the system without one; our certificate, if any."""
        authority = self._content(cluster, "certificate-authority")
        certificate, key = self._content(user, "client-certificate"), self._content(user, "client-key")
        try:
            tls = ssl.create_default_context(cadata=authority.decode("ascii") if authority else None)
            if certificate and key:
                _present(tls, certificate + b"\n" + key)
        except (ssl.SSLError, ValueError) as error:
            reason = getattr(error, "reason", None) or "no PEM"
            raise self._error(f"has a certificate or key that cannot be read ({reason})", "Correct it") from None
        return tls

    def _content(self, entry: Mapping[str, Any], key: str) -> bytes | None:
        """The PEM that an entry contains in base64, or whose file it names."""
        if inline := entry.get(f"{key}-data"):
            try:
                return base64.b64decode(str(inline), validate=True)
            except binascii.Error:
                raise self._error(f"{key}-data is no base64", "Correct it") from None
        if not entry.get(key):
            return None
        path = self.path.parent / str(entry[key])
        with _readable(path):
            return path.read_bytes()

    def _login(self, user: Mapping[str, Any]) -> Callable[[], str]:
        for key, problem in NOT_TAKEN.items():
            if user.get(key):
                raise self._error(problem, "Use the kubeconfig of a service account, with its token or a certificate")
        if token := user.get("token"):
            return lambda: f"Bearer {token}"
        if user.get("tokenFile"):
            return _token_of(self.path.parent / str(user["tokenFile"]))
        return lambda: ""

    def _error(self, problem: str, remedy: str) -> SchedulerError:
        return SchedulerError(str(self.path), problem, remedy)


def _present(tls: ssl.SSLContext, pem: bytes) -> None:
    """Have our certificate presented; ssl reads it from a file alone, here one that is on no disk."""
    descriptor = os.memfd_create("railfab")
    try:
        with os.fdopen(os.dup(descriptor), "wb") as file:
            file.write(pem)
        tls.load_cert_chain(f"/proc/self/fd/{descriptor}", password=b"")
    finally:
        os.close(descriptor)


def _token_of(path: Path) -> Callable[[], str]:
    """The header with the token that a file has at the time."""

    def login() -> str:
        with _readable(path):
            return f"Bearer {path.read_text(encoding='ascii').strip()}"

    return login


@contextmanager
def _readable(path: Path) -> Iterator[None]:
    try:
        yield
    except ssl.SSLError:
        raise SchedulerError(str(path), "is no PEM file", "Correct it") from None
    except UnicodeDecodeError:
        raise SchedulerError(str(path), "is no token", "Correct it") from None
    except OSError as error:
        problem = f"cannot be read ({(error.strerror or str(error)).lower()})"
        raise SchedulerError(str(path), problem, "Correct the kubeconfig, or the file") from None
