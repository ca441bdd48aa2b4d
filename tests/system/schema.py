"""schema.py - checks a value against a schema of docs/openapi.json: the keywords that the document
uses, and no member that the schema does not name.
"""
import json
import pathlib
import re

KEYWORDS = {"type", "format", "description", "pattern", "contentEncoding", "enum", "items",
            "properties", "required", "anyOf", "$ref", "minimum", "maximum", "default", "examples"}
KINDS = {"integer": int, "string": str, "boolean": bool, "array": list, "object": dict,
         "null": type(None)}


def is_kind(value, kind):
    return isinstance(value, KINDS[kind]) and (kind != "integer" or not isinstance(value, bool))


def faults(document, schema, value, at=""):
    """What is wrong with the value, as sentences."""
    unknown = set(schema) - KEYWORDS
    assert not unknown, f"{at}: keywords {unknown}"
    if "$ref" in schema:
        target = document
        for part in schema["$ref"].removeprefix("#/").split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        return faults(document, target, value, at)
    if "anyOf" in schema:
        tried = [faults(document, part, value, at) for part in schema["anyOf"]]
        return [] if [] in tried else tried[0]
    kinds = schema.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(is_kind(value, kind) for kind in kinds):
        return [f"{at}: {value!r} is no {kinds}"]
    if value is None:
        return []
    if "enum" in schema and value not in schema["enum"]:
        return [f"{at}: {value!r} is not in the enum"]
    if "pattern" in schema and not re.search(schema["pattern"], value):
        return [f"{at}: {value!r} is not {schema['pattern']}"]
    found = []
    if isinstance(value, list) and "items" in schema:
        for number, item in enumerate(value):
            found += faults(document, schema["items"], item, f"{at}[{number}]")
    if isinstance(value, dict) and "properties" in schema:
        found += [f"{at}.{name} is missing" for name in schema["required"] if name not in value]
        found += [f"{at}.{name} is not in the document" for name in value
                  if name not in schema["properties"]]
        for name, part in schema["properties"].items():
            if name in value:
                found += faults(document, part, value[name], f"{at}.{name}")
    return found


def pointer_of(document, method, path, status=200):
    """The JSON pointer to the schema of an answer in JSON."""
    answers = document["paths"][path][method.lower()]["responses"]
    status = str(status) if "content" in answers.get(str(status), ()) else "default"
    steps = ("paths", path, method.lower(), "responses", status, "content",
             next(iter(answers[status]["content"])), "schema")
    return "#/" + "/".join(step.replace("~", "~0").replace("/", "~1") for step in steps)


def examples(document):
    """Those of docs/spec/json.md: what is asked ("" for a record), the pointer, the value."""
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/spec/json.md").read_text()
    for block in re.findall(r"^```\n(.*?)^```$", page, re.M | re.S):
        target = ""
        for line in block.splitlines():
            if not line.startswith(("{", "[")):
                target = line
                continue
            value = json.loads(line)
            path = re.sub(r"^GET |\?.*", "", target)
            path = path if path.startswith("/api/v1") else "/api/v1" + path
            path = re.sub(r"/orders/.+", "/orders/{id}", path)
            path = re.sub(r"/markets/[A-Z-]+", "/markets/{market}", path)
            path = re.sub(r"/eip712/\d+", "/eip712/{request_type}", path)
            if target and path in document["paths"]:
                yield target, pointer_of(document, "get", path), value
                continue
            record = ("Problem" if "code" in value else "SuccessAnswer" if "success" in value
                      else "RequestAck" if "status" in value else "Market")
            yield "", "#/components/schemas/" + record, value


def answer_of(document, method, path, status=200):
    """The schema of an answer in JSON."""
    answers = document["paths"][path][method.lower()]["responses"]
    answer = answers.get(str(status), {})
    content = answer.get("content", answers["default"]["content"])
    return next(iter(content.values()))["schema"]
