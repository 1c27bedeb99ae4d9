"""What a session dials with: read anew at each dial, so that a rotated password or certificate needs no restart.

The CA and the client certificate are read by the connection itself (`railfab.gnmi.tls.context_of`).
"""

from __future__ import annotations

import asyncio

from railfab.endpoints import Credentials, Endpoint, read_credentials


async def newest_credentials(endpoint: Endpoint) -> Credentials:
    """The credentials that the endpoint refers to, as they are now. Raises EndpointError."""
    return await asyncio.to_thread(read_credentials, endpoint)
