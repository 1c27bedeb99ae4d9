"""The running configuration of a SONiC switch: all tables of CONFIG_DB, in one Get over gNMI.

sonic-gnmi takes a Get of the type ALL only, in JSON_IETF, with the path /CONFIG_DB/localhost of the origin sonic-db,
which without a table is the whole database (sonic-gnmi, gnmi_server/server.go, Get; mixed_db_client.go,
tableData2Msi).
"""

from __future__ import annotations

from railfab.endpoints import Credentials, Endpoint
from railfab.errors import DeviceError
from railfab.gnmi.blocking import BlockingGnmiClient
from railfab.gnmi.client import CALL_TIMEOUT_S
from railfab.platforms.sonic.tables import normal, text

PATH = "sonic-db:/CONFIG_DB/localhost"


def running_text(endpoint: Endpoint, credentials: Credentials, /, *, read_within_s: float | None = None) -> str:
    """The running configuration, as `parse` reads it. Raises DeviceError."""
    with BlockingGnmiClient(endpoint, credentials, call_timeout_s=read_within_s or CALL_TIMEOUT_S) as client:
        values = [value for _, value in client.get((PATH,))]
    if len(values) != 1 or not isinstance(values[0], dict):
        problem = f"answers the Get of CONFIG_DB with {len(values)} values, which are no object of tables"
        raise DeviceError(endpoint.name, problem, "Check that its gNMI server serves the origin sonic-db")
    return text(normal(values[0]))
