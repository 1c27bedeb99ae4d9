"""A source of targets as a user states it, and its health metrics."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from railfab.endpoints import Endpoint
from railfab.errors import RailfabError
from railfab.metrics import CATALOGUE
from railfab.telemetry.targets import Discovery, FileSource, HttpSource, Loader, loader_samples, source_of

NETBOX = """\
http_sd: {url: "https://netbox.example/sd?site=fra1", interval_s: 30, timeout_s: 5}
settings: {gnmi_port: 6030, ca: /ca.pem, credentials: "env:LAB"}
labels: {name: [device], platform: __meta_netbox_platform_slug, address: __meta_netbox_primary_ip}
platforms: {arista-eos: eos}
"""


def test_a_source_is_a_url_a_list_or_a_file_that_says_how_to_read_a_url(tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("leaf1: {hostname: h, platform: frr}\n")
    (tmp_path / "netbox.yml").write_text(NETBOX)
    assert isinstance(source_of(str(tmp_path / "hosts.yml")), FileSource)
    assert source_of("http://sd.example:80/x").name == "http://sd.example:80/x"
    found = source_of(str(tmp_path / "netbox.yml"))
    assert isinstance(found, HttpSource)
    assert (found.name, found.interval_s) == ("https://netbox.example/sd", 30)
    assert found.discovery == Discovery(
        settings=Endpoint(name="", platform="", host="", gnmi_port=6030, ca="/ca.pem", credentials="env:LAB"),
        name_labels=("device",),
        platform_labels=("__meta_netbox_platform_slug",),
        address_label="__meta_netbox_primary_ip",
        platforms={"arista-eos": "eos"},
    )


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("http_sd: {url: u}\n", "u: is no http or https URL. Write for example https://netbox.example/targets."),
        ("http_sd: {}\n", "f.yml:1: http_sd: has no url. Write url: https://HOST/PATH."),
        ("http_sd: []\n", "f.yml:1: http_sd: is not a mapping. Write KEY: VALUE."),
        ("http_sd:\n  ulr: x\n", "f.yml:2: http_sd.ulr: unknown key 'ulr'. Did you mean 'url'? The keys here are"),
        (
            "http_sd: {url: 'http://h/'}\nsetings: {}\n",
            "f.yml:2: setings: unknown key 'setings'. Did you mean 'settings'?",
        ),
        ("http_sd: {url: 'http://h/', interval_s: 0}\n", "f.yml:1: http_sd.interval_s: is not 1 to 86400 seconds."),
        ("http_sd: {url: 'http://h/'}\nsettings: {skip_verfy: true}\n", "f.yml:2: settings.skip_verfy: unknown key"),
        (
            "http_sd: {url: 'http://h/'}\nsettings: {gnmi_port: 0}\n",
            "f.yml:2: settings: gnmi_port 0 is not a port number.",
        ),
        (
            "http_sd: {url: 'http://h/'}\nsettings: {plaintext: true, ca: c}\n",
            "f.yml:2: settings: plaintext is without TLS, and ca is for TLS.",
        ),
        (
            "http_sd: {url: 'http://h/'}\nlabels: {name: 7}\n",
            "f.yml:2: labels.name: is not the name of a label, or a list",
        ),
        (
            "http_sd: {url: 'http://h/'}\nplatforms: {a: eoss}\n",
            "f.yml:2: platforms.a: railfab has no platform 'eoss'. Use one of cumulus, eos,",
        ),
        ("http_sd: {url: 'http://h/'}\nplatforms: {a: 7}\n", "f.yml:2: platforms.a: is not the name of a platform."),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: str) -> None:
    (tmp_path / "f.yml").write_text(text)
    with pytest.raises(RailfabError) as caught:
        source_of(str(tmp_path / "f.yml"))
    assert line in str(caught.value)


def test_every_metric_of_a_source_is_exposed_with_the_labels_of_the_catalogue(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("leaf1: {hostname: h, platform: frr}\n")
    loader = Loader(source_of(str(path)))
    assert {name for name, _, _ in loader_samples([loader])} < set(CATALOGUE)
    asyncio.run(loader.refresh())
    path.write_text("x")
    asyncio.run(loader.refresh())
    found = {name.removeprefix("fabric_collector_discovery_"): value for name, _, value in loader_samples([loader])}
    assert found.pop("last_success_timestamp_seconds") > 1_700_000_000
    assert found == {"targets": 1, "polls_total": 2, "failures_total": 1}
    for name, labels, _ in loader_samples([loader]):
        assert ("fabric", *labels) == CATALOGUE[name].labels
    assert {name for name in CATALOGUE if "_discovery_" in name} == {name for name, _, _ in loader_samples([loader])}
