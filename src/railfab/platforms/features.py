"""The features of a device model that a platform may lack: one line each, used by admission, the laws and the docs.

`capabilities.yml` of a platform names those that it supports; it omits the other optional ones and lacks the rest. A
feature that a platform calls `external` or `omitted` is one with `without`: admission leaves it out of the model.
"""

from __future__ import annotations

from collections.abc import Mapping

from railfab.platforms.balancing_features import BALANCING_FEATURES
from railfab.platforms.feature import Feature
from railfab.platforms.interface_features import INTERFACE_FEATURES
from railfab.platforms.management_features import MANAGEMENT_FEATURES
from railfab.platforms.qos_features import QOS_FEATURES
from railfab.platforms.routing_features import ROUTING_FEATURES

FEATURES: Mapping[str, Feature] = {
    **INTERFACE_FEATURES,
    **ROUTING_FEATURES,
    **QOS_FEATURES,
    **BALANCING_FEATURES,
    **MANAGEMENT_FEATURES,
}
"""By name, in the order of the docs."""
