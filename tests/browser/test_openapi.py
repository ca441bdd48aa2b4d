"""test_openapi.py BUILD - Redocly's linter finds nothing in docs/openapi.json and asyncapi.json,
ajv compiles every schema of them, and by ajv too the examples of docs/spec/json.md and the answers
of a running perpd validate. Skipped where tools/setup --browser was not called.
"""
import copy
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import packages

packages.skip_without("@redocly/openapi-core", "ajv")
sys.path.insert(0, str(packages.SOURCE / "tests/system"))
from schema import examples  # noqa: E402  (the folder comes first)

PATH = packages.SOURCE / "docs/openapi.json"
DOCUMENT = json.loads(PATH.read_text())


def check(good, *what):
    if not good:
        sys.exit(f"failed: {what}")


def pointers(value, at="#"):
    """Every schema of the document."""
    if isinstance(value, dict):
        if at.endswith("/schema") or at.startswith("#/components/schemas/") and at.count("/") == 3:
            yield at
            return
        for name, part in value.items():
            yield from pointers(part, at + "/" + name.replace("~", "~0").replace("/", "~1"))
    if isinstance(value, list):
        for number, part in enumerate(value):
            yield from pointers(part, f"{at}/{number}")


def wrong(document, lines=()):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        return packages.run("openapi.mjs", file.name,
                            text="".join(json.dumps(line) + "\n" for line in lines)).splitlines()


def answers():
    """What the suite of the public reads gets, as [pointer, value]."""
    with tempfile.NamedTemporaryFile("w+", suffix=".json") as file:
        done = subprocess.run(
            [sys.executable, packages.SOURCE / "tests/system/test_public.py", sys.argv[1],
             "openapi"], env={**os.environ, "PERPD_ANSWERS": file.name}, stdout=subprocess.PIPE,
            text=True)
        check(done.returncode == 0, done.stdout)
        return [json.loads(line) for line in file]


every = list(pointers(DOCUMENT))
values = answers() + [[pointer, value] for _, pointer, value in examples(DOCUMENT)]
check(len(every) > 60 and len(values) > 45, len(every), len(values))
check(not (found := wrong(DOCUMENT, values)), *found)
# A schema is compiled when a value is shown to it: none of them fits an unheard-of type.
compiled = wrong(DOCUMENT, [[pointer, None] for pointer in every])
check(not [line for line in compiled if line.startswith("no schema")], compiled)

# The stream's document is sound too: the linter, and each schema by ajv.
FLOW = json.loads((packages.SOURCE / "docs/asyncapi.json").read_text())
every_flow = list(pointers(FLOW))
check(len(every_flow) > 60, len(every_flow))
compiled = wrong(FLOW, [[pointer, []] for pointer in every_flow])
check(not [line for line in compiled if not line.startswith("#/components/schemas/")], compiled)
broken = copy.deepcopy(FLOW)
del broken["channels"]["stream"]["messages"]["Refusal"]
check(wrong(broken), "an operation has a message that its channel lacks")

# What is broken is seen by the linter, by ajv as a schema, and by ajv as a value.
broken = copy.deepcopy(DOCUMENT)
del broken["paths"]["/api/v1/orders/{id}"]["get"]["parameters"]
check(any("path-parameters-defined" in line for line in wrong(broken)), "a parameter is gone")
broken = copy.deepcopy(DOCUMENT)
broken["components"]["schemas"]["Problem"]["properties"]["nowhere"] = {"format": 1}
check(any("spec" in line or "struct" in line for line in wrong(broken)), "a schema that is none")
pointer, value = next((pointer, value) for pointer, value in values if pointer.endswith("~1time/get"
                      "/responses/200/content/application~1json/schema"))
check(wrong(DOCUMENT, [[pointer, {**value, "time_ms": "now"}]]), "a value of another type")
print(f"{len(every)} schemas, {len(values)} answers")
