"""Part of a configuration that is the operator's, where the intent does not state it."""

from __future__ import annotations

import re

from railfab.platforms.nxos.lines import FORMAT, SWITCH_DEFAULTS
from railfab.platforms.shared.operator_topics import OperatorTopics

FEATURES = (
    *("bash-shell", "icam", "ldap", "netconf", "nxapi", "nxsdk", "ntp", "openconfig", "password encryption aes"),
    *("privilege", "radius", "restconf", "scheduler", "scp-server", "sflow", "sftp-server", "ssh", "tacacs+"),
    *("telemetry", "telnet", "udld"),
)
"""Features that are no part of the fabric."""
WORDS = (
    *("version", "vdc", "boot", "license", "username", "role", "userpassphrase", "password", "fips", "ssh", "crypto"),
    *("enable", "privilege", "aaa", "logging", "snmp-server", "rmon", "ntp", "clock", "cli", "event", "scheduler"),
    *("nxapi", "nxsdk", "telemetry", "power", "line", "terminal", "icam", "cfs", "callhome", "poap", "sflow"),
)
"""First words of lines of the operator."""
OPERATORS = tuple(
    re.compile(pattern)
    for pattern in (
        *(rf"(?:no )?feature {re.escape(feature)}" for feature in FEATURES),
        *(rf"(?:no )?{word}(?: .*)?" for word in WORDS),
        r"(?:install )?feature-set .*",
        r"(?:ip )?tacacs(?:-server)? .*",
        r"(?:ip )?radius(?:-server)? .*",
        r"banner motd (?s:.*)",
        r"banner exec (?s:.*)",
        r"(?:no )?ip (?:domain|domain-lookup|domain-name|domain-list|name-server|host)(?: .*)?",
        r"hardware access-list tcam region .*",
        r"copp profile .*",
        r"vrf context management",
        r"interface mgmt0",
    )
)
"""Lines of the operator by topic: those of a topic that a rendered configuration has are the intent's.

What a topic of the switch's own hardware and image has (`version`, `vdc`, `boot`, TCAM regions) is never the fabric's.
"""

TOPICS = OperatorTopics(FORMAT, OPERATORS, SWITCH_DEFAULTS)


def scoped(configuration: str, rendered: str) -> str:
    """A configuration without what is the operator's because the rendered one does not state it."""
    return TOPICS.scoped(configuration, rendered)


def former_text(configuration: str, rendered: str) -> str:
    """The part of a configuration that a rendered one replaces, so that deploying it restores that."""
    return TOPICS.replaced(rendered) + scoped(configuration, rendered)
