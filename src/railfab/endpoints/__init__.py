"""Endpoints: where the switches of a running lab, a twin or an inventory are, and how they are logged in to."""

from typing import TYPE_CHECKING

from railfab.endpoints.state_directory import STATE_DIR
from railfab.import_on_use import imported_on_use

if TYPE_CHECKING:
    from railfab.endpoints.credentials import read_credentials, without_logins
    from railfab.endpoints.document import load_endpoints, save_endpoints, state_file, state_option
    from railfab.endpoints.model import Credentials, Endpoint, Endpoints, InventoryEndpoints
    from railfab.endpoints.nornir_hosts import Host, load_hosts
    from railfab.endpoints.private_files import PART, give_to_caller, make_folder, write_private
else:
    __getattr__ = imported_on_use(
        __name__,
        {
            "credentials": ("read_credentials", "without_logins"),
            "document": ("load_endpoints", "save_endpoints", "state_file", "state_option"),
            "model": ("Credentials", "Endpoint", "Endpoints", "InventoryEndpoints"),
            "nornir_hosts": ("Host", "load_hosts"),
            "private_files": ("PART", "give_to_caller", "make_folder", "write_private"),
        },
    )

__all__ = [
    "PART",
    "STATE_DIR",
    "Credentials",
    "Endpoint",
    "Endpoints",
    "Host",
    "InventoryEndpoints",
    "give_to_caller",
    "load_endpoints",
    "load_hosts",
    "make_folder",
    "read_credentials",
    "save_endpoints",
    "state_file",
    "state_option",
    "without_logins",
    "write_private",
]
