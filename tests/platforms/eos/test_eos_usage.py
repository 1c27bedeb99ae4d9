"""Lines of EOS that have no effect are compared as lines without use."""

from __future__ import annotations

import pytest

from railfab.platforms import platform

EOS = platform("eos")
SESSION = "neighbor 192.0.2.1 peer group SPARE"


@pytest.mark.parametrize(
    ("session", "path"),
    [
        ("", "unused router bgp 65001: neighbor SPARE shutdown"),
        (f"   {SESSION}\n", "router bgp 65001: neighbor SPARE shutdown"),
        (f"   vrf TENANT\n      {SESSION}\n", "router bgp 65001: neighbor SPARE shutdown"),
    ],
)
def test_a_group_is_without_use_where_no_session_of_any_routing_table_is_in_it(session: str, path: str) -> None:
    planned = f"router bgp 65001\n   neighbor SPARE peer group\n{session}"
    (difference,) = EOS.differences(planned.replace("group\n", "group\n   neighbor SPARE shutdown\n", 1), planned)
    assert difference.path == path
