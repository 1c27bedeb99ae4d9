"""Deploys a design with Nornir to a twin whose switches have factory configurations: preview, change, verify."""

from railfab.deploy import Journal, configure, nornir_of, preview, verify_all
from railfab.endpoints import STATE_DIR
from railfab.fabric import design
from railfab.findings import findings_text
from railfab.text.printable import printable
from railfab.twin import Twin


def outcome(results):
    return "failed" if results.failed else "changed" if results[0].changed else "no change"


fabric = design("labs/srl-pod/intent.yml")
texts = fabric.configurations()
with Twin(fabric, base_port=0) as twin, nornir_of(fabric, twin.endpoints) as nornir:
    differences = nornir.run(preview, configurations=texts)  # stages on every switch and commits on none
    differences.raise_on_error()
    for name, results in differences.items():
        print(printable(f"{name}: {len(results[0].diff.splitlines())} lines of differences"))

    with Journal(STATE_DIR, fabric.intent.fabric).open("deploy") as entry:  # for railfab rollback
        changes = nornir.run(configure, configurations=texts, change=entry.change, keep=entry.keep)
        entry.finish({name: outcome(results) for name, results in changes.items()})
    for name, results in changes.items():
        print(printable(f"{name}: {outcome(results)} {results[0].exception or ''}"))

    verification = verify_all(nornir, fabric, wait_s=30)
    print(len(verification.checked), "of", len(texts), "switches verified:", findings_text(verification.findings))
