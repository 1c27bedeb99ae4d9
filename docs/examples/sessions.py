"""Prints how many BGP sessions are up on each spine, with Nornir: a script of your own begins like this."""

from nornir import InitNornir
from nornir.core.filter import F

from railfab.deploy import inspect

nornir = InitNornir(config_file="inventory/nornir.yml")
spines = nornir.filter(F(groups__contains="spine"))
for name, results in spines.run(task=inspect).items():
    _running, observed = results[0].result
    print(name, sum(session.established for session in observed.sessions), "sessions up")
