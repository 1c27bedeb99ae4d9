"""Which designs the twin serves; apart from the twin, so that a command which only starts one need not import it."""

from __future__ import annotations

from railfab.device import DeviceModel, Lag
from railfab.errors import RailfabError, UnsupportedFeature, one_per_problem, raise_all
from railfab.fabric.design import Design, naming
from railfab.platforms import TwinFace, platform, platform_names


def require_served(design: Design) -> None:
    """Raise UnsupportedFeature, or Problems, for platforms that the twin does not serve, and for features that it does
    not compute."""
    from railfab.forwarding import refuse  # imports numpy

    refused: list[RailfabError] = []
    for model in design.models.values():
        try:
            face_of(model)
        except UnsupportedFeature as error:
            refused.append(error)
    raise_all(one_per_problem(refused))
    refuse(design.models.values())
    raise_all(one_per_problem(list(map(_without_lags, filter(_has_hidden_lags, design.models.values())))))


def _has_hidden_lags(model: DeviceModel) -> bool:
    """Whether it has LAGs, on a platform whose LAGs the twin does not show."""
    return face_of(model).lag_leaves is None and any(isinstance(interface, Lag) for interface in model.interfaces)


def _without_lags(model: DeviceModel) -> UnsupportedFeature:
    shown = [name for name in platform_names() if (twin := platform(name).twin) and twin().lag_leaves is not None]
    remedy = f"Use {' or '.join(shown)}, or links without `bundle`"
    return UnsupportedFeature(model.name, f"the twin does not show LAGs of {model.platform}", remedy)


def require_traffic(design: Design) -> None:
    """Raise UnsupportedFeature where the hosts send with another protocol than RoCEv2: no job can run."""
    if design.intent.profile.transport != "rocev2":
        with naming(design.document):
            remedy = "Use transport: rocev2, or a twin without a job"
            raise UnsupportedFeature("profile.transport", "the twin runs jobs over RoCEv2, not Ultra Ethernet", remedy)


def face_of(model: DeviceModel) -> TwinFace:
    """The twin face of the platform of this switch. Raises UnsupportedFeature for a platform that it does not serve."""
    twin = platform(model.platform).twin
    if twin is None:
        served = " or ".join(name for name in platform_names() if platform(name).twin)
        remedy = f"Use a fabric of {served}, or boot it with railfab lab"
        raise UnsupportedFeature(model.name, f"the twin does not support {model.platform}", remedy)
    return twin()
