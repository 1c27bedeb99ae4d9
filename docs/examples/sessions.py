"""Prints the number of established BGP sessions of each spine, with Nornir."""

from nornir import InitNornir
from nornir.core.filter import F

from railfab.deploy import inspect

nornir = InitNornir(config_file="inventory/nornir.yml")
spines = nornir.filter(F(groups__contains="spine"))
for name, results in spines.run(task=inspect).items():
    _running, observed = results[0].result
    print(name, sum(session.established for session in observed.sessions), "sessions up")
