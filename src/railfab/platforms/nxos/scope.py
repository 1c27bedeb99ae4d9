"""Part of a configuration that is the operator's, where the intent does not state it."""

from __future__ import annotations

import re

from railfab.platforms.nxos.lines import FORMAT, text

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

REPLACED = "! replaces "
"""Beginning of a comment with a line of a topic of the operator that the text around it removes; see `former_text`."""


def scoped(configuration: str, rendered: str) -> str:
    """A configuration without what is the operator's because the rendered one does not state it."""
    wanted = [line.text for line in FORMAT.tree(rendered)] + _replaced(rendered)
    foreign = [topic for topic in OPERATORS if not any(map(topic.fullmatch, wanted))]
    lines = FORMAT.tree(configuration)
    return text(tuple(line for line in lines if not any(topic.fullmatch(line.text) for topic in foreign)))


def former_text(configuration: str, rendered: str) -> str:
    """The part of a configuration that a rendered one replaces, so that deploying it restores that.

    It says, as comments, of which of the operator's topics the rendered one has lines: what it has there is removed.
    """
    texts = [*_replaced(rendered), *(line.text for line in FORMAT.tree(rendered))]
    topics = [each for each in texts if any(topic.fullmatch(each) for topic in OPERATORS)]
    comments = [REPLACED + each.replace("\n", "\\n") + "\n" for each in dict.fromkeys(topics)]
    return "".join(comments) + scoped(configuration, rendered)


def _replaced(configuration: str) -> list[str]:
    comments = [line for line in configuration.splitlines() if line.startswith(REPLACED)]
    return [line.removeprefix(REPLACED).replace("\\n", "\n") for line in comments]
