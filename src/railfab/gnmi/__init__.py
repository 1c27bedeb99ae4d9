"""gNMI: paths, values, the client and the server; the protocol and nothing else, on pygnmi's stubs.

Modules are imported by name (`railfab.gnmi.server`), so that path texts can be handled without grpc.
"""
