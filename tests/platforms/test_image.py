"""What the name of an image file tells of its version, and the images of a virtual switch."""

from __future__ import annotations

import pytest

from railfab.platforms import Image
from railfab.platforms.shared.virtual_images import FLASH_BYTES, FlashFull, ImageBoot, ImageFile, VirtualImages


@pytest.mark.parametrize(
    ("place", "version", "runs", "is_of"),
    [
        ("nxos64-cs.10.5.4.M.bin", "", "10.5(4)", True),
        ("nxos64-cs.10.5.4.M.bin", "", "10.5(3)", False),
        ("nxos64-cs.10.5.4.M.bin", "", "0.5(4)", False),
        ("flash:/EOS-4.34.2F.swi", "", "4.34.2F", True),
        ("EOS-4.34.2F.swi", "", "4.34.2", False),
        ("EOS-4.34.12F.swi", "", "4.34.1F", False),
        ("/var/tmp/junos-evo-install-qfx-ms-x86-64-24.4R2.11-EVO.iso", "", "24.4R2.11-EVO", True),
        ("/var/tmp/junos-evo-install-qfx-ms-x86-64-24.4R2.11-EVO.iso", "", "24.4R1.11-EVO", False),
        ("http://192.0.2.80:8080/cumulus-linux-5.16.0-mlx-amd64.bin", "", "Cumulus Linux 5.16.0", True),
        ("/home/admin/sonic.bin", "202505.3", "202505.3", True),
        ("/home/admin/sonic.bin", "202505.3", "202505.30", False),
        ("/home/admin/sonic.bin", "5.16.0", "Cumulus Linux 5.16.0", True),
        ("/home/admin/sonic.bin", "5.16.0", "", False),
        ("EOS-4.34.2F.swi", "", "", False),
    ],
)
def test_a_version_that_a_switch_reports_is_that_of_an_image_or_not(
    place: str, version: str, runs: str, is_of: bool
) -> None:
    image = Image(place=place, version=version)
    assert image.states_version
    assert image.is_of(runs) is is_of


@pytest.mark.parametrize("place", ["", "flash:", "http://192.0.2.80/", "a;reboot", "a b", "$(reboot)", "a'b"])
def test_what_a_shell_could_run_is_no_file(place: str) -> None:
    with pytest.raises(ValueError, match="is no file and no URL"):
        Image(place=place)


def test_a_checksum_says_its_algorithm() -> None:
    for digits, algorithm in ((32, "md5"), (64, "sha256"), (128, "sha512")):
        assert Image(place="a-1.2.bin", checksum="a" * digits).algorithm == algorithm
    for checksum in ("a" * 31, "x" * 32):
        with pytest.raises(ValueError, match="hexadecimal"):
            Image(place="a-1.2.bin", checksum=checksum)
    assert not Image(place="sonic.bin").states_version


def test_a_flash_holds_images_up_to_its_size_and_boots_what_it_was_told() -> None:
    images = VirtualImages("eos", "1.0")
    half = FLASH_BYTES // 2
    first = ImageFile(name="a.swi", platform="eos", version="2.0", size_bytes=half)
    images.offer("a.swi", first)
    images.offer("a.swi", first)
    assert images.free_bytes == half
    with pytest.raises(FlashFull):
        images.offer("b.swi", ImageFile(name="b.swi", platform="eos", version="3.0", size_bytes=half + 1))
    images.next_boot = images.file("flash/a.swi")
    assert images.boot()
    assert (images.release, images.next_boot) == ("2.0", None)
    for boot, comes_up in ((ImageBoot.OLD, True), (ImageBoot.NEVER, False)):
        images.next_boot = ImageFile(name="c.swi", platform="eos", version="3.0", boot=boot)
        assert images.boot() is comes_up
        assert images.release == "2.0"
        assert images.boot()
