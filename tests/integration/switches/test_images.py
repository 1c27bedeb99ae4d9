"""Installation of software images on virtual switches over SSH: each platform's dialogue, its checks, and a reload."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.integration.switches.racks import LEAF, OVER_SSH, SPINE, opened
from tests.sampled import sampled

from railfab.endpoints import Endpoint
from railfab.errors import ImageRefused, RailfabError, UnsupportedFeature
from railfab.fabric.design import design
from railfab.forwarding import SwitchFault
from railfab.platforms import Image, Verb
from railfab.platforms.shared.virtual_images import ImageBoot, ImageFile
from railfab.twin import Twin

PLACES = {
    "eos": ("EOS-4.34.2F.swi", "4.34.2F"),
    "nxos": ("nxos64-cs.10.5.4.M.bin", "10.5(4)"),
    "junos": ("/var/tmp/junos-evo-install-qfx-ms-x86-64-24.4R2.11-EVO.iso", "24.4R2.11"),
    "cumulus": ("cumulus-linux-5.16.0-mlx-amd64.bin", "5.16.0"),
    "sonic": ("/home/admin/sonic-broadcom.bin", "202505.3"),
}
"""File and version of a newer image, by platform."""
BOOT_S = 0.5
WITHIN_S = 20.0
SERVER = "http://192.0.2.80/images/"

on_each = pytest.mark.parametrize("system", OVER_SSH, indirect=True)
on_some = pytest.mark.parametrize("system", sampled(OVER_SSH, few=["nxos"]), indirect=True)


@pytest.fixture(scope="module")
def twin(system: str, repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Twin]:
    fabric = design(repository / "tests" / "deploy" / f"rack_{system}.yml")
    state = tmp_path_factory.mktemp("twin")
    with Twin(fabric, state=state, base_port=0, configured=True, boot_s=BOOT_S) as running:
        yield running


@pytest.fixture
def image(system: str) -> Image:
    place, version = PLACES[system]
    return Image(place=place, version=version)


def offered(twin: Twin, image: Image, **changes: object) -> ImageFile:
    """The image on the flash of the leaf."""
    platform = twin.endpoints.by_name()[LEAF].platform
    stated: dict[str, object] = {"name": image.file, "platform": platform, "version": image.version} | changes
    file = ImageFile(**stated)  # type: ignore[arg-type]
    twin.offer_image(LEAF, image.place, file)
    return file


def reloaded(twin: Twin, leaf: Endpoint) -> str:
    """Reload the leaf, and the version that it reports then."""
    with opened(leaf) as session:
        session.operate(Verb.RELOAD)
    end_s = time.monotonic() + WITHIN_S
    seen = set[bool]()
    while twin._operations.fault(LEAF) is SwitchFault.OFF or False not in seen:
        seen.add(any(port.fault == "" for port in twin._switches[SPINE].ports() if _is_to_leaf(twin, port.name)))
        assert time.monotonic() < end_s
        time.sleep(0.05)
    with opened(leaf) as session:
        return session.running().identity.version


def _is_to_leaf(twin: Twin, port: str) -> bool:
    ports = twin.design.topology.ports_of(SPINE)
    return any(own.name == port and peer.node == LEAF for own, peer, _ in ports)


@on_each
def test_an_installed_image_runs_after_a_reload_in_which_the_links_are_down(
    twin: Twin, leaf: Endpoint, image: Image
) -> None:
    offered(twin, image)
    with opened(leaf) as session:
        before = session.running()
        session.install(image)
        assert session.running().identity.version == before.identity.version
        session.install(image)
        session.operate(Verb.SAVE)
    version = reloaded(twin, leaf)
    assert image.is_of(version), version
    assert not image.is_of(before.identity.version)
    with opened(leaf) as session:
        after = session.running()
    assert not after.drained
    assert after.identity.hostname == before.identity.hostname


@on_some
def test_a_file_that_is_not_there_is_refused_and_the_next_boot_stays(twin: Twin, leaf: Endpoint, image: Image) -> None:
    missing = Image(place=image.place.replace("-", "x"), version=image.version)
    following = twin._switches[LEAF].images.next_boot
    with opened(leaf) as session, pytest.raises(ImageRefused, match=f"{LEAF}: (has no|does not)"):
        session.install(missing)
    assert twin._switches[LEAF].images.next_boot is following


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["nxos", "eos"]), indirect=True)
def test_another_checksum_is_refused(twin: Twin, leaf: Endpoint, image: Image) -> None:
    file = offered(twin, image)
    algorithm = "md5"
    right, wrong = file.checksum(algorithm), offered(twin, image, damaged=True).checksum(algorithm)
    offered(twin, image)
    with opened(leaf) as session:
        session.install(Image(place=image.place, version=image.version, checksum=right))
        with pytest.raises(ImageRefused, match=rf"has another .*: its md5 is {right}\. Copy the image again"):
            session.install(Image(place=image.place, version=image.version, checksum=wrong))


@on_some
def test_an_image_of_another_platform_is_refused(twin: Twin, leaf: Endpoint, image: Image, system: str) -> None:
    if system == "eos":
        with opened(leaf) as session, pytest.raises(ImageRefused, match=r"names of EOS images end in \.swi"):
            session.install(Image(place="nxos64-cs.10.5.4.M.bin"))
        return
    offered(twin, image, platform="other", version="1.2.3")
    twin._switches[LEAF].images.next_boot = None
    with opened(leaf) as session, pytest.raises(ImageRefused):
        session.install(image)
    assert twin._switches[LEAF].images.next_boot is None


@pytest.mark.parametrize("system", sampled(["eos", "cumulus", "junos", "sonic"], few=["eos"]), indirect=True)
def test_a_switch_fetches_an_image_and_refuses_one_without_space(
    twin: Twin, leaf: Endpoint, image: Image, system: str
) -> None:
    for name, size_bytes in (("", 1 << 20), ("large-", 5 << 30)):
        url = Image(place=f"{SERVER}{name}{image.file}", version=image.version)
        twin.offer_image(
            LEAF,
            url.place,
            ImageFile(name=url.file, platform=system, version=image.version, size_bytes=size_bytes),
        )
        with opened(leaf) as session:
            if name:
                with pytest.raises(ImageRefused, match=r"(?i)space"):
                    session.install(url)
            else:
                session.install(url)
        following = twin._switches[LEAF].images.next_boot
        assert following is not None
        assert following.size_bytes == 1 << 20


@pytest.mark.parametrize("system", sampled(OVER_SSH, few=["sonic"]), indirect=True)
@pytest.mark.parametrize("boot", [ImageBoot.OLD, ImageBoot.NEVER])
def test_a_bad_image_boots_the_old_release_or_none(twin: Twin, leaf: Endpoint, image: Image, boot: ImageBoot) -> None:
    bad = Image(place=image.place.replace(image.file, f"bad-{image.file}"), version=f"{image.version}1")
    offered(twin, bad, boot=boot, version=bad.version, size_bytes=1 << 20)
    with opened(leaf) as session:
        before = session.running().identity.version
        session.install(bad)
    if boot is ImageBoot.OLD:
        assert reloaded(twin, leaf) == before
        return
    with opened(leaf) as session:
        session.operate(Verb.RELOAD)
    end_s = time.monotonic() + WITHIN_S
    while twin._operations.fault(LEAF) is not SwitchFault.OFF:
        assert time.monotonic() < end_s
        time.sleep(0.05)
    time.sleep(2 * BOOT_S)
    with pytest.raises(RailfabError), opened(leaf):
        pass
    twin.control.operate(LEAF, "on")  # type: ignore[arg-type]
    with opened(leaf) as session:
        assert session.running().identity.version == before


@pytest.mark.parametrize("system", ["srlinux"], indirect=True)
def test_sr_linux_says_that_it_is_installed_otherwise(twin: Twin, leaf: Endpoint) -> None:
    problem = "railfab cannot install srlinux.bin over gNMI, the only protocol that it speaks with SR Linux"
    with opened(leaf) as session, pytest.raises(UnsupportedFeature, match=problem):
        session.install(Image(place="srlinux.bin"))
