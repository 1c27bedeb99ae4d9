"""Management access of device models, as hypothesis draws it."""

from __future__ import annotations

from collections.abc import Collection

from hypothesis import strategies as st

from railfab.device import DEFAULT_INSTANCE, SEVERITIES, AaaServer, GnmiService, ManagementAccess, SyslogServer
from railfab.testing.reuse import optional, reused
from railfab.testing.words import ipv4_addresses, words

_servers = st.lists(ipv4_addresses.map(str), max_size=2, unique=True)
_SERVICES = st.none() | st.builds(GnmiService, port=st.integers(1024, 65535), tls_profile=optional(words))
_INSTANCES = st.sampled_from((DEFAULT_INSTANCE, "mgmt"))
_AAA_PROTOCOLS = st.sampled_from(("tacacs", "radius"))


@reused
@st.composite
def managements(draw: st.DrawFn, able: Collection[str]) -> ManagementAccess | None:
    """Management access, each part of which may be left out; None without any."""
    ntp = draw(_servers) if "ntp" in able else []
    syslog = draw(_servers) if "syslog" in able else []
    aaa = draw(_servers) if "aaa" in able else []
    return ManagementAccess(
        network_instance=draw(_INSTANCES),
        ntp=tuple(ntp),
        syslog=tuple(draw(_collector(address, able)) for address in syslog),
        aaa=tuple(AaaServer(address=address, protocol=draw(_AAA_PROTOCOLS)) for address in aaa),
        gnmi=draw(_SERVICES) if "gnmi_server" in able else None,
        banner=draw(optional(words)) if "banner" in able else None,
    ).stated()


def _collector(address: str, able: Collection[str]) -> st.SearchStrategy[SyslogServer]:
    return st.builds(
        SyslogServer,
        address=st.just(address),
        port=st.integers(1, 65535),
        protocol=st.sampled_from(("udp", "tcp") if "syslog_tcp" in able else ("udp",)),
        level=st.sampled_from(SEVERITIES),
    )
