"""The definitions of Kubernetes' OpenAPI description that tests need, cut from the package kubernetes-validate.

`python -m tests.deploy.schedulers.kubernetes_schema FOLDER` writes them; FOLDER is that of one release in the package.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

SCHEMA = Path(__file__).parent / "schema" / "nodes-and-pods.schema.json"
PREFIX = "#/$defs/"
CORE, META = "io.k8s.api.core.v1.", "io.k8s.apimachinery.pkg.apis.meta.v1."
KEPT: dict[str, tuple[str, ...] | None] = {
    f"{CORE}Container": ("image", "name", "resources"),
    f"{CORE}Node": ("apiVersion", "kind", "metadata", "spec"),
    f"{CORE}NodeSpec": ("taints", "unschedulable"),
    f"{CORE}Pod": None,
    f"{CORE}PodList": None,
    f"{CORE}PodResourceClaim": None,
    f"{CORE}PodSpec": ("containers", "initContainers", "nodeName", "resourceClaims", "resources"),
    f"{CORE}PodStatus": ("phase",),
    f"{CORE}ResourceRequirements": ("limits", "requests"),
    f"{CORE}Taint": None,
    f"{META}ListMeta": None,
    f"{META}ObjectMeta": ("annotations", "labels", "name", "namespace", "ownerReferences", "resourceVersion", "uid"),
    f"{META}OwnerReference": None,
    f"{META}Status": None,
    "io.k8s.apimachinery.pkg.api.resource.Quantity": None,
}
"""Properties that are kept of each definition; None for all."""
COMMENT = (
    "Cut of the definitions in the PyPI package kubernetes-validate {release}, which are those of the OpenAPI"
    " description of Kubernetes (Copyright The Kubernetes Authors, Apache License 2.0); descriptions and other"
    " properties left out."
)


def definitions() -> dict[str, Any]:
    return json.loads(SCHEMA.read_text())["$defs"]


def schema_of(name: str) -> dict[str, Any]:
    """A JSON Schema of one definition, such as `io.k8s.api.core.v1.Node`."""
    return {"$ref": PREFIX + name, "$defs": definitions()}


def _cut(value: Any) -> Any:
    if isinstance(value, list):
        return [_cut(each) for each in value]
    if not isinstance(value, dict):
        return value
    if "$ref" in value:
        return {"$ref": value["$ref"]} if value["$ref"].removeprefix(PREFIX) in KEPT else {}
    left_out = ("description", "default", "$id", "$schema")
    return {
        key: {name: _cut(each) for name, each in below.items()} if key == "properties" else _cut(below)
        for key, below in value.items()
        if key not in left_out and not key.startswith("x-")
    }


def main(folder: Path) -> None:
    whole = json.loads((folder / "_definitions.json").read_text())["$defs"]
    kept = {}
    for name, properties in KEPT.items():
        kept[name] = _cut(whole[name])
        if properties:
            kept[name]["properties"] = {key: kept[name]["properties"][key] for key in properties}
    release = folder.name.removeprefix("v").partition("-")[0]
    document = {"$comment": COMMENT.format(release=release), "$defs": kept}
    SCHEMA.write_text(json.dumps(document, separators=(",", ":"), sort_keys=True) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
