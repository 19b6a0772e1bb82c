"""The manifests of docker/ are what Kubernetes, KServe and Compose take, to the last field.

Kubernetes' own kinds are checked strictly against its published schemas (kubernetes-validate), the
kinds of KServe against the models of its SDK, without installing what that SDK needs.
"""
import ast
import glob
import importlib.util
import os
import re
import shutil
import subprocess
import sys

from debian_root import FOLDER
from instance import SKIPPED, skip

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
KUBERNETES = "1.34"

try:
    import kubernetes_validate
    import yaml
except ImportError as error:
    skip(f"{error.name} is not installed (make test-deploy installs it)")


class KServe:
    """The types of KServe's SDK, read from its source."""

    def __init__(self):
        spec = importlib.util.find_spec("kserve")
        self.types = {}
        for path in glob.glob(f"{spec.submodule_search_locations[0]}/models/*.py") if spec else []:
            with open(path) as file:
                for node in ast.parse(file.read()).body:
                    if isinstance(node, ast.ClassDef):
                        self.types[node.name] = self.fields(node)

    @staticmethod
    def fields(node):
        """{name on the wire: type}"""
        values = {target.id: ast.literal_eval(a.value) for a in node.body
                  if isinstance(a, ast.Assign) for target in a.targets
                  if isinstance(a.value, ast.Dict)}
        return {values["attribute_map"][name]: kind for name, kind in values["openapi_types"].items()}

    def faults(self, kind, value, path):
        inner = re.fullmatch(r"(list|dict)[\[(](?:str, )?(.+)[\])]", kind)
        simple = {"str": str, "int": int, "bool": bool, "object": object}
        if inner and inner[1] == "list":
            if not isinstance(value, list):
                return [f"{path} is not a list"]
            return [f for i, v in enumerate(value) for f in self.faults(inner[2], v, f"{path}[{i}]")]
        if inner:
            return [f for k, v in value.items() for f in self.faults(inner[2], v, f"{path}.{k}")]
        if kind in simple:
            return [] if isinstance(value, simple[kind]) else [f"{path} is not {kind}: {value!r}"]
        if kind in self.types and isinstance(value, dict):
            known = self.types[kind]
            return ([f"{path}.{name} is not a field of {kind}" for name in value if name not in known]
                    + [f for name in value if name in known
                       for f in self.faults(known[name], value[name], f"{path}.{name}")])
        return [] if kind not in self.types else [f"{path} is not a {kind}: {value!r}"]


def pod_of(containers):
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}, "spec": {"containers": containers}}


def check_kubernetes(document):
    kubernetes_validate.validate(document, KUBERNETES, strict=True)
    return []


def check_kserve(document, kserve):
    version = document["apiVersion"].split("/")[1]
    kind = version[0].upper() + version[1:] + document["kind"]
    faults = kserve.faults(kind, document, document["kind"]) if kind in kserve.types else [f"no {kind}"]
    containers = document["spec"].get("containers")
    return faults + (check_kubernetes(pod_of(containers)) if containers else [])


def check_keda(document):
    """KEDA's schema is in no package: its names, as its documentation lists them."""
    spec = {"scaleTargetRef", "pollingInterval", "cooldownPeriod", "initialCooldownPeriod", "idleReplicaCount",
            "minReplicaCount", "maxReplicaCount", "fallback", "advanced", "triggers"}
    trigger = {"type", "metricType", "name", "metadata", "authenticationRef", "useCachedMetrics"}
    found = document["spec"]
    return ([f"spec.{name} is unknown" for name in found if name not in spec]
            + [f"triggers.{name} is unknown" for t in found["triggers"] for name in t if name not in trigger]
            + [f"{k}: {v!r} is not a string" for t in found["triggers"] for k, v in t["metadata"].items()
               if not isinstance(v, str)])


def check_variables(document):
    """Kubernetes names variables after services; none of them may look like a setting of tensord."""
    spec = document.get("spec", {})
    pods = {"Deployment": lambda: spec["template"]["spec"],
            "StatefulSet": lambda: spec["template"]["spec"], "InferenceService": lambda: spec["predictor"]}
    pod = pods.get(document["kind"], lambda: None)()
    return [] if pod is None or pod.get("enableServiceLinks") is False else ["enableServiceLinks is not false"]


def check(document, kserve):
    group = document["apiVersion"].split("/")[0]
    if group == "serving.kserve.io":
        return check_kserve(document, kserve)
    if group == "keda.sh":
        return check_keda(document)
    if group == "kustomize.config.k8s.io":
        return []  # kustomize itself reads it, below
    return check_kubernetes(document)


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return [] if done.returncode == 0 else [f"{' '.join(command)}:\n{done.stdout}"]


def find(tool):
    """The tool's path: installed, or unpacked from Debian's package, since installing a package would
    start its service."""
    package = {"promtool": "prometheus", "kubectl": "kubernetes-client"}[tool]
    unpacked = f"{FOLDER}/{package}/usr/bin/{tool}"
    if not shutil.which(tool) and not os.path.exists(unpacked):
        os.makedirs(f"{FOLDER}/{package}", exist_ok=True)
        subprocess.run(f"apt-get download -qq {package} && dpkg -x {package}_*.deb .", shell=True,
                       cwd=f"{FOLDER}/{package}", capture_output=True)
    return shutil.which(tool) or (os.path.exists(unpacked) and unpacked)


def compose():
    for command in (["docker", "compose"], ["docker-compose"]):
        if shutil.which(command[0]) and not run(*command, "version"):
            return command


def main():
    kserve = KServe()
    if not kserve.types:
        skip("kserve is not installed (make test-deploy installs it)")
    skipped = []
    files = sorted(glob.glob(f"{ROOT}/docker/kubernetes/*.yml") + glob.glob(f"{ROOT}/docker/kserve/*.yml"))
    faults = [] if files else ["there is no manifest"]
    for path in files:
        with open(path) as file:
            for document in yaml.safe_load_all(file):
                try:
                    found = check(document, kserve) + check_variables(document)
                except kubernetes_validate.ValidationError as error:
                    found = [f"{'.'.join(map(str, error.absolute_path))}: {error.message}"]
                faults += [f"{os.path.relpath(path, ROOT)}: {fault}" for fault in found]
    for tool, *arguments in (("promtool", "check", "rules", f"{ROOT}/docker/alerts.yml"),
                             ("kubectl", "kustomize", f"{ROOT}/docker/kubernetes")):
        if find(tool):
            faults += run(find(tool), *arguments)
        else:
            skipped.append(tool)
    if compose():
        for path in sorted(glob.glob(f"{ROOT}/docker/compose*.yml")):
            faults += run(*compose(), "-f", path, "config", "-q")
    else:
        skipped.append("docker compose")
    for fault in faults:
        print(fault)
    if skipped:
        print(f"{len(files)} manifests checked; not installed: {', '.join(skipped)}")
    return 1 if faults else SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
