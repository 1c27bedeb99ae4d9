"""gNMI: messages, paths, values, client and server. Knows no platform.

Modules are imported by name (`railfab.gnmi.server`), so that path texts can be handled without grpc.
"""
