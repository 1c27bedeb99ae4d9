"""Boots a lab of FRR switches with their configurations, verifies it, and removes it; as root."""

from railfab.deploy import nornir_of, verify_all
from railfab.fabric import design
from railfab.findings import findings_text
from railfab.lab import Lab

fabric = design("labs/frr-pod/intent.yml")
with Lab(fabric, configured=True) as lab, nornir_of(fabric, lab.endpoints) as nornir:
    verification = verify_all(nornir, fabric, wait_s=60)  # sessions of real daemons need seconds
    print(len(verification.checked), "switches verified:", findings_text(verification.findings))
    print(verification.cabling.summary)
