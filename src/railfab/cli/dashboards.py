"""`railfab dashboards`: write boards and rules to files, or push boards to Grafana."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from railfab.cli.common import (
    STATE_DEFAULT,
    Output,
    OutputOption,
    StateOption,
    given_parameters,
    print_json,
    print_table,
    refuse,
)
from railfab.errors import RailfabError
from railfab.units import COLLECTOR_PORT, LONGEST_SCRAPE_INTERVAL_S, PROMETHEUS_PORT

if TYPE_CHECKING:
    from railfab.dashboards import Mark

app = typer.Typer(
    no_args_is_help=True,
    help="Grafana boards, Prometheus rules and alerts: write them to files, or push boards to Grafana.",
)

RunbooksOption = Annotated[
    str, typer.Option(metavar="URL", help="Folder or URL of the runbook pages, to which alerts and boards link.")
]


@app.command()
def build(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="DIR", help="Where to write.")] = Path("dashboards"),
    collector: Annotated[
        list[str] | None,
        typer.Option(
            metavar="HOST:PORT",
            help=f"Address of the collector's metrics, 127.0.0.1:{COLLECTOR_PORT} by default, or"
            " http://HOST:PORT/http_sd of one with --processes; repeatable.",
        ),
    ] = None,
    jobs: Annotated[
        str | None, typer.Option(metavar="HOST:PORT", help="Address of the jobs' metrics, if not the collector's.")
    ] = None,
    prometheus: Annotated[
        str, typer.Option(metavar="URL", help="Prometheus as reached from Grafana.")
    ] = f"http://127.0.0.1:{PROMETHEUS_PORT}",
    interval: Annotated[
        int, typer.Option(metavar="SECONDS", help="Scrape interval.", min=1, max=LONGEST_SCRAPE_INTERVAL_S)
    ] = 15,
    runbooks: RunbooksOption = "docs/alerts",
    output: OutputOption = Output.TABLE,
) -> None:
    """Write boards, the configuration of Prometheus with rules and alerts, and the provisioning of Grafana."""
    from railfab.dashboards import Datasource, Scrape, grafana_files, prometheus_files, write

    collectors = tuple(collector or Scrape().collectors)
    addresses = [("--collector", one) for one in collectors if "://" not in one]
    urls = [("--collector", one) for one in collectors if "://" in one]
    _check_addresses([*addresses, ("--jobs", jobs)], [*urls, ("--prometheus", prometheus)])
    scrape = Scrape(collectors=collectors, jobs=jobs, interval_s=interval)
    rules = prometheus_files(scrape, runbooks.rstrip("/"))
    files = {**grafana_files(Datasource(url=prometheus, interval_s=interval), runbooks.rstrip("/")), **rules}
    written = write(files, out)
    if output is Output.JSON:
        print_json([{"path": str(out / name), "changed": changed} for name, changed in written.items()])
    else:
        rows = [(out / name, "written" if changed else "unchanged") for name, changed in written.items()]
        print_table("Dashboards and rules", ["File", ""], rows)


def _check_addresses(targets: Iterable[tuple[str, str | None]], urls: Iterable[tuple[str, str]]) -> None:
    """Raise RailfabError for an invalid address or URL of an option."""
    for option, target in targets:
        if target is not None and not re.fullmatch(r"([^\s/:\[\]]+|\[[0-9a-fA-F:.]+\]):[0-9]{1,5}", target):
            raise RailfabError(option, f"{target!r} is not HOST:PORT", "Use for example collector.example:9804")
    for option, url in urls:
        if not re.fullmatch(r"https?://[^\s/]+\S*", url):
            raise RailfabError(option, f"{url!r} is not a URL", "Use for example http://127.0.0.1:9090")


@app.command()
def push(
    context: typer.Context,
    url: Annotated[str, typer.Option(metavar="URL", help="URL of Grafana.", show_default=False)],
    prometheus: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Also create a datasource for this Prometheus, as reached from Grafana."),
    ] = None,
    interval: Annotated[
        int, typer.Option(metavar="SECONDS", help="Scrape interval.", min=1, max=LONGEST_SCRAPE_INTERVAL_S)
    ] = 15,
    token_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with a token; else GRAFANA_TOKEN, or GRAFANA_USERNAME and _PASSWORD."),
    ] = None,
    ca: Annotated[Path | None, typer.Option(metavar="FILE", help="PEM file of the CA to trust.")] = None,
    alerts: Annotated[
        bool, typer.Option("--alerts", metavar="", help="Have Grafana evaluate the alerts, where no Alertmanager runs.")
    ] = False,
    deploys: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Also mark the past deploys of this intent, as railfab history lists them."),
    ] = None,
    state: StateOption = STATE_DEFAULT,
    runbooks: RunbooksOption = "docs/alerts",
    overwrite: Annotated[bool, typer.Option("--overwrite", metavar="", help="Replace what differs.")] = False,
    output: OutputOption = Output.TABLE,
) -> None:
    """Push the boards, alerts and past deploys to a running Grafana; a second push changes nothing."""
    from railfab.dashboards import ALERTS, BOARDS, Datasource
    from railfab.dashboards import push as deliver
    from railfab.dashboards.grafana import GrafanaSink, grafana_login

    if prometheus is None:
        refused = {"interval": "--interval", "alerts": "--alerts"}
        refuse(given_parameters(context), refused, "Add --prometheus, or leave out")
    if deploys is None:
        refuse(given_parameters(context), {"state": "--state"}, "Add --deploys, or leave out")
    sink = GrafanaSink(url, grafana_login(os.environ, token_file), ca=ca)
    datasource = Datasource(url=prometheus, interval_s=interval) if prometheus else None
    deliveries = list(
        deliver(
            sink,
            BOARDS,
            datasource=datasource,
            alerts=ALERTS if alerts else (),
            marks=_deploys(deploys, state),
            runbooks=runbooks.rstrip("/"),
            overwrite=overwrite,
        )
    )
    if output is Output.JSON:
        print_json([{"kind": one.kind, "name": one.name, "changed": one.changed} for one in deliveries])
    else:
        rows = [(one.kind, one.name, "changed" if one.changed else "unchanged") for one in deliveries]
        print_table(f"Pushed to {url}", ["Kind", "Name", ""], rows)


def _deploys(intent: Path | None, state: Path) -> Iterator[Mark]:
    """Marks of the past deploys of a fabric."""
    if intent is None:
        return
    from railfab.app.deploy_marks import deploy_marks
    from railfab.deploy import Journal
    from railfab.fabric import design

    fabric = design(intent).intent.fabric
    yield from deploy_marks(fabric, Journal(state, fabric))
