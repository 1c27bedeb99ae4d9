"""The password and the certificate authority of a twin, which the next twin of the fabric uses again.

Clients that run on, a collector or a deployment, know both: they reach a restarted twin as they would a switch that was
restarted.
"""

from __future__ import annotations

import json
import logging
import secrets
from dataclasses import dataclass
from datetime import timedelta

from railfab.endpoints import Credentials, write_private
from railfab.gnmi.certificates import Authority, TlsIdentity
from railfab.twin.files import TwinFiles, write_credentials

logger = logging.getLogger(__name__)

USERNAME = "admin"
LEAST_VALIDITY = timedelta(days=30)
"""A kept authority that is valid for less is replaced, so that no twin outlives it."""


@dataclass(frozen=True, slots=True)
class TwinSecrets:
    """What the switches of a twin admit and show."""

    credentials: Credentials
    authority: Authority


def twin_secrets(files: TwinFiles, fabric: str, *, renewed: bool) -> TwinSecrets:
    """The kept secrets of a fabric's twin; new ones where they are missing, unusable, or to be `renewed`.

    All are written again, so that only their owner can read them.
    """
    if renewed:
        for path in files.kept():
            path.unlink(missing_ok=True)
    credentials = _kept_credentials(files) or Credentials(USERNAME, secrets.token_urlsafe(16))
    authority = _kept_authority(files) or Authority(fabric)
    write_credentials(files.credentials, credentials)
    write_private(files.ca, authority.certificate.decode())
    write_private(files.ca_key, authority.identity.key.decode())
    return TwinSecrets(credentials, authority)


def _kept_credentials(files: TwinFiles) -> Credentials | None:
    try:
        document = json.loads(files.credentials.read_text())
        username, password = document["username"], document["password"]
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError) as error:
        logger.warning("%s is not used: %s", files.credentials, error)
        return None
    return Credentials(username, password) if username == USERNAME and isinstance(password, str) and password else None


def _kept_authority(files: TwinFiles) -> Authority | None:
    try:
        authority = Authority.of(TlsIdentity(files.ca.read_bytes(), files.ca_key.read_bytes()))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, TypeError) as error:
        logger.warning("%s is not used: %s", files.ca, error)
        return None
    return authority if authority.validity > LEAST_VALIDITY else None
