"""gNMI: paths, values, client and server, on pygnmi's stubs. Knows no platform.

Modules are imported by name (`railfab.gnmi.server`), so that path texts can be handled without grpc.
"""
