"""NetBox over its REST API. `railfab.netbox.client` imports pynetbox, and is imported on use."""

from railfab.netbox.address import NetBox, NetBoxError, Record

__all__ = ["NetBox", "NetBoxError", "Record"]
