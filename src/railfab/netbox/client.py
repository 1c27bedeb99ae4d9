"""Client of the REST API of NetBox, with pynetbox. It sends GET, and POST where it may create, to one address only."""

from __future__ import annotations

import ssl
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar
from urllib.parse import urlsplit, urlunsplit

import pynetbox
import requests
from urllib3.exceptions import InsecureRequestWarning

from railfab.netbox.address import NetBox, NetBoxError, Record

E = TypeVar("E", bound=BaseException)

OLDEST = (3, 3)
CREATING = 10
"""Times the time limit of an answer, of a request that creates: NetBox traces the path of each cable first."""
PAGE = 1000
"""Records per page: the default of NetBox's limit MAX_PAGE_SIZE."""


class Client:
    """Connection to one NetBox. A context manager that closes the connection."""

    def __init__(self, netbox: NetBox, *, creates: bool = False) -> None:
        self._netbox = netbox
        if not _is_url(netbox.url):
            raise NetBoxError(netbox.url, "is not an HTTP URL", "Write https://HOST")
        if netbox.ca is not None and not Path(netbox.ca).is_file():
            raise NetBoxError(netbox.ca, "no such file", "Name the PEM file of the CA of NetBox")
        self._api: Any = pynetbox.api(netbox.url, token=netbox.token)  # type: ignore[no-untyped-call]
        self._api.http_session = self._session = _Session(netbox, frozenset(("GET", "POST") if creates else ("GET",)))

    def __enter__(self) -> Self:
        with self._asking("status"):
            status = self._api.status()
        version = str(status.get("netbox-version", "")) if isinstance(status, Mapping) else ""
        parts = tuple(int(part) if part.isdigit() else 0 for part in version.split(".")[:2])
        if not version:
            raise self._no_netbox()
        if parts < OLDEST:
            raise NetBoxError(self._netbox.url, f"is NetBox {version}", "Use 3.3 or later")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._session.close()

    def records(self, endpoint: str, filters: Mapping[str, Any]) -> Iterator[Record]:
        """Every record of an endpoint, such as `dcim.devices`, page by page."""
        app, _, name = endpoint.partition(".")
        what = endpoint.replace(".", "/")
        with self._asking(what):
            found = iter(getattr(getattr(self._api, app), name).filter(limit=PAGE, **filters))
            while (record := self._next(what, found)) is not None:
                yield record

    def create(self, endpoint: str, payloads: Sequence[Record]) -> list[Record]:
        """Create the objects of an endpoint, all of them or none; returns their records."""
        app, _, name = endpoint.partition(".")
        with self._asking(endpoint.replace(".", "/")):
            made = getattr(getattr(self._api, app), name).create([dict(payload) for payload in payloads])
        return [dict(record) for record in made]

    def _next(self, what: str, found: Iterator[Any]) -> Record | None:
        """The next record, None at the end. pynetbox raises untyped errors for records of another format."""
        try:
            record = next(found, None)
            return None if record is None else dict(record)
        except (TypeError, KeyError, IndexError, AttributeError):
            problem = f"answers for {what} in a format other than that of NetBox 3.3 to 4.6"
            raise NetBoxError(self._netbox.url, problem, "Check that the address is a NetBox") from None

    @contextmanager
    def _asking(self, what: str) -> Iterator[None]:
        """Convert every failure of a request to a NetBoxError."""
        url, refused = self._netbox.url, pynetbox.RequestError
        try:
            yield
        except refused as error:
            raise self._refusal(what, error.req) from None
        except (pynetbox.ContentError, requests.exceptions.JSONDecodeError):
            raise self._no_netbox() from None
        except requests.exceptions.Timeout:
            problem = f"does not answer within {self._netbox.timeout_s:g} s ({what})"
            raise NetBoxError(url, problem, "Try again, or narrow it with --site or --tag") from None
        except (requests.exceptions.RequestException, OSError) as error:
            raise self._unreachable(error) from None

    def _refusal(self, what: str, answer: requests.Response) -> NetBoxError:
        url, code = self._netbox.url, answer.status_code
        said = _detail(answer)
        if code in (401, 403) and what == "status":
            token = "the token" if self._netbox.token else "to be read without a token"
            return NetBoxError(url, f"refuses {token} ({said})", "Set NETBOX_TOKEN, or name its file with --token-file")
        creates = answer.request.method == "POST"
        if code == 403:
            verb, right = ("create", "add") if creates else ("read", "view")
            problem = f"does not permit this token to {verb} {what} ({said})"
            return NetBoxError(url, problem, f"Grant its user the right to {right}")
        if code == 400 and creates:
            return NetBoxError(url, f"refuses new {what} ({said})", "Correct it there, and push again")
        if code == 400:
            return NetBoxError(url, f"rejects the query for {what} ({said})", "Check the slugs of --site and --tag")
        if code == 404:
            return self._no_netbox()
        return NetBoxError(url, f"cannot answer for {what}: {code} {answer.reason}", "Check the log of NetBox")

    def _no_netbox(self) -> NetBoxError:
        return NetBoxError(
            self._netbox.url, "is not a NetBox", "Give the address that its pages are under, without /api"
        )

    def _unreachable(self, error: BaseException) -> NetBoxError:
        certificate = _in_chain(error, ssl.SSLCertVerificationError)
        if certificate is not None:
            remedy = "Name the CA with --ca, or use --skip-verify"
            problem = f"its certificate is not trusted ({certificate.verify_message.lower()})"
            return NetBoxError(self._netbox.url, problem, remedy)
        cause = _in_chain(error, OSError, lambda found: bool(found.strerror))
        reason = str(cause.strerror).lower() if cause is not None else type(error).__name__
        return NetBoxError(self._netbox.url, f"cannot be reached ({reason})", "Check the address and the route to it")


class _Session(requests.Session):
    """Session that sends requests of these methods only, to one address only, with a timeout."""

    def __init__(self, netbox: NetBox, methods: frozenset[str]) -> None:
        super().__init__()
        self._netbox, self._methods = netbox, methods
        self._home = urlsplit(netbox.url)
        self.auth = _unchanged  # else requests would replace the token by an entry of ~/.netrc
        self._verify: bool | str | None = False if netbox.skip_verify else netbox.ca

    def request(self, method: str | bytes, url: str | bytes, *arguments: Any, **options: Any) -> requests.Response:
        """Send a request to the given address; behind a proxy, the URL of a next page may name another one."""
        if method not in self._methods:
            raise NetBoxError(self._netbox.url, f"{method!r} would change it", "This is a defect of railfab: report it")
        asked = urlsplit(str(url))
        timeout_s = self._netbox.timeout_s * (1 if method == "GET" else CREATING)
        options.update(timeout=timeout_s, allow_redirects=False)
        if self._verify is not None:
            options["verify"] = self._verify
        at_home = urlunsplit((self._home.scheme, self._home.netloc, *asked[2:]))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InsecureRequestWarning)  # the user has said --skip-verify
            answer = super().request(method, at_home, *arguments, **options)
        if answer.is_redirect:
            there = answer.headers["location"]
            raise NetBoxError(self._netbox.url, f"redirects to {there}", "Name that address if it is your NetBox")
        return answer


def _unchanged(request: requests.PreparedRequest) -> requests.PreparedRequest:
    return request


def _is_url(text: str) -> bool:
    try:
        address = urlsplit(text)
        return (
            address.scheme in ("http", "https")
            and bool(address.hostname)
            and address.port != 0
            and not address.username
        )
    except ValueError:
        return False


def _detail(answer: requests.Response) -> str:
    """The reason of NetBox for a refusal, in one line."""
    try:
        said = answer.json()
    except requests.exceptions.JSONDecodeError:
        return f"{answer.status_code} {answer.reason}"
    if isinstance(said, dict) and isinstance(said.get("errors"), list):  # NetBox 4.7, of several objects
        said = [each.get("errors") for each in said["errors"]]
    if isinstance(said, list):
        said = next((each for each in said if each), {})
    if isinstance(said, dict):
        said = said.get("detail") or "; ".join(f"{key}: {value}" for key, value in said.items())
    return " ".join(str(said).split())[:200].rstrip(".")


def _in_chain(error: BaseException | None, kind: type[E], fits: Callable[[E], bool] = lambda _: True) -> E | None:
    """The first error of a type in the chain of causes."""
    while error is not None:
        if isinstance(error, kind) and fits(error):
            return error
        error = error.__cause__ or error.__context__
    return None
