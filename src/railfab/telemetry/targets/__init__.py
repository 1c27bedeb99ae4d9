"""Targets: which switches a collector streams from, from where it knows them, and which of them are its own.

specs = targets_of_hosts(Path("hosts.yml"))                        # or targets_of_intent, or a Loader of a source
mine = [spec for spec in specs if shard.owns(spec.name)]
"""

from railfab.telemetry.targets.config import source_of
from railfab.telemetry.targets.file_source import FileSource
from railfab.telemetry.targets.health import loader_samples
from railfab.telemetry.targets.http_source import HttpSource
from railfab.telemetry.targets.known import mapped_telemetry, targets_of_hosts, targets_of_intent, telemetry_of
from railfab.telemetry.targets.loader import Loader, LoaderHealth, LoadFailed, PartlyFailed, TargetSource
from railfab.telemetry.targets.login import newest_credentials
from railfab.telemetry.targets.service_discovery import Discovery, parse_targets, sd_document
from railfab.telemetry.targets.shards import WHOLE, Shard, Share, owner, parse_shard, parse_share, process_shard
from railfab.telemetry.targets.spec import Diff, TargetSpec, diff

__all__ = [
    "WHOLE",
    "Diff",
    "Discovery",
    "FileSource",
    "HttpSource",
    "LoadFailed",
    "Loader",
    "LoaderHealth",
    "PartlyFailed",
    "Shard",
    "Share",
    "TargetSource",
    "TargetSpec",
    "diff",
    "loader_samples",
    "mapped_telemetry",
    "newest_credentials",
    "owner",
    "parse_shard",
    "parse_share",
    "parse_targets",
    "process_shard",
    "sd_document",
    "source_of",
    "targets_of_hosts",
    "targets_of_intent",
    "telemetry_of",
]
