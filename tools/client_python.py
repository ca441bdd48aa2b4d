"""client_python.py - generates clients/python/src/perpd/_wire_gen.py and _types_gen.py."""
import keyword
import textwrap

from client_tables import NOTE, enums, pascal, signed, wrapped

CODES = {  # kind of a field: its letters of struct
    "portfolio": "QII", "account": "Q", "u64": "Q", "i64": "q", "index": "I", "u32": "I",
    "u16": "H", "u8": "B", "bool": "B", "pin": "i", "enum": "B", "amount": "Q", "time": "Q",
    "expiry": "Q", "price": "Q", "quantity": "q", "size": "Q", "asset": "H", "length": "H",
}
TAILS = ("items", "credential", "document")
# Whose requests have typed data.
MASTERS = ("session_or_master", "master", "admin", "new_secp256k1")
SPECIAL = {  # kind: its codec in body.py and its Python type; every other kind is an integer
    "portfolio": ("PORTFOLIO", "PortfolioId"), "bool": ("BOOL", "bool"),
    "uuid": ("ID", "UUID"), "text": ("text_of", "str"), "length": ("LENGTH", None),
    "key": ("bytes_of", "bytes"), "hash": ("bytes_of", "bytes"), "address": ("bytes_of", "bytes"),
    "credential": ("TAIL", "bytes"), "document": ("TAIL", "bytes"),
    "items": ("ITEMS", "tuple[BatchItem, ...]"),
}


def layout(fields):
    parts = []
    for field in fields:
        if field["kind"] == "pad":
            parts.append(f"{field['size']}x")
        elif field["kind"] not in TAILS:
            parts.append(CODES.get(field["kind"], f"{field['size']}s"))
    return "<" + "".join(parts)


def members(fields, classes):
    """(name, codec, type) of each field that is no pad; the type of a counted field is None."""
    counted = any(field["kind"] == "items" for field in fields)
    for field in fields:
        kind = field["kind"]
        if kind == "pad":
            continue
        if kind == "enum":
            title = classes[tuple(field["names"])]
            yield field["name"], f"enum_of({title})", title
        elif counted and field["name"] == "count":
            yield field["name"], "LENGTH", None
        else:
            codec, kind_type = SPECIAL.get(kind, ("INTEGER", "int"))
            if codec.endswith("_of"):
                codec += f"({field['size']})"
            yield safe(field["name"]), codec, kind_type


def safe(name):
    return name + "_" if name == "from" else name


def body(title, doc, constants, fields, classes):
    rows = list(members(fields, classes))
    lines = ["", "", "@dataclass(frozen=True)", f"class {title}(Body):", f'    """{doc}"""']
    lines += [f"    {name}: ClassVar[{kind}] = {value}" for name, kind, value in constants]
    lines += [f'    LAYOUT: ClassVar[Struct] = Struct("{layout(fields)}")']
    if rows:
        lines += ["    FIELDS: ClassVar[Fields] = ("]
        lines += [f'        ("{name}", {codec}),' for name, codec, _ in rows] + ["    )"]
    return lines + [f"    {name}: {kind}" for name, _, kind in rows if kind]


def enum_lines(classes):
    for names, title in classes.items():
        yield from ["", "", f"class {title}(IntEnum):"]
        yield from (f"    {name} = {number}" for number, name in enumerate(names))


def literal(name, values):
    return ["", f"{name} = Literal[", wrapped(values, "    ") + ",", "]"]


def typed_lines(fields, types):
    for field in fields:
        kind = field["kind"]
        if kind != "pad":
            line = f'        TypedField("{field["name"]}", "{kind}", "{types[kind]}", ' \
                f'{field["offset"]}, {field["size"]}'
            names = field.get("names")
            yield f"{line})," if not names else \
                f"{line}, (\n{wrapped(names, ' ' * 12)},\n        )),"


def wire(tables):
    classes = enums(tables)
    lines = [f'"""Requests, statuses, reasons, problem codes of perpd. {NOTE}"""',
             "from __future__ import annotations", "", "from dataclasses import dataclass",
             "from enum import IntEnum", "from struct import Struct",
             "from typing import ClassVar, Final, Literal", "from uuid import UUID", "",
             "from .body import (BOOL, ID, INTEGER, LENGTH, PORTFOLIO, TAIL, Body, Fields, "
             "PortfolioId,",
             "                   TypedField, bytes_of, enum_of, items_of, text_of)", "",
             "HEADER_VERSION: Final = 1"]
    lines += literal("Status", tables["statuses"])
    lines += literal("Reason", [row["name"] for row in tables["reasons"]])
    lines += literal("ProblemCode", [row["code"] for row in tables["problems"]])
    lines += enum_lines(classes)
    lines += body("BatchItem", "One of the items of order_batch.",
                  [("NAME", "str", '"batch_item"')], tables["batch_item"], classes)
    lines += ["", "", "ITEMS: Final = items_of(BatchItem)"]
    rows = [row for row in signed(tables) if row["path"]]  # the reserved codes have none
    for row in rows:
        doc = f"Request {row['code']}, {row['name']}; signer: {row['signer']}."
        constants = [("CODE", "int", row["code"]), ("PATH", "str", f'"{row["path"]}"'),
                     ("NAME", "str", f'"{row["name"]}"')]
        fields = row["fields"] or [{"name": "pad", "kind": "pad", "size": row["body_bytes"]}]
        lines += body(pascal(row["name"]), doc, constants, fields, classes)
    lines += ["", "", "REQUESTS: Final[dict[int, type[Body]]] = {"]
    lines += [f"    {row['code']}: {pascal(row['name'])}," for row in rows] + ["}"]
    lines += ["", "# What a wallet shows of each request that a master key on secp256k1 may sign.",
              "TYPED: Final[dict[int, tuple[TypedField, ...]]] = {"]
    types = {row["kind"]: row["eip712"] or "" for row in tables["kinds"]}
    for row in rows:
        if row["signer"] in MASTERS:
            lines += [f"    {row['code']}: (", *typed_lines(row["fields"], types), "    ),"]
    lines += ["}", ""]
    return "\n".join(lines)


def type_of(schema):
    """The Python type of a schema of the OpenAPI document."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " | ".join(type_of(part) for part in schema["anyOf"])
    if "enum" in schema:
        return "Literal[" + ", ".join("None" if name is None else f'"{name}"'
                                      for name in schema["enum"]) + "]"
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " | ".join(type_of({**schema, "type": kind}) for kind in kinds)
    if kinds == "array":
        return f"list[{type_of(schema['items'])}]"
    return {"integer": "int", "string": "str", "boolean": "bool", "null": "None",
            "number": "float", "object": "dict[str, object]", "any": "object"}[kinds]


def member(name, schema, required):
    kind = type_of(schema)
    kind = kind if required else f"NotRequired[{kind}]"
    line = f"    {name}: {kind}"
    if len(line) <= 99:
        return [line]
    values = kind.rpartition("[")[2].rstrip("]")
    head, tail = kind.split(values)
    return [f"    {name}: {head}", textwrap.fill(values, 99, initial_indent=" " * 8,
                                                 subsequent_indent=" " * 8), f"    {tail}"]


def records(schemas):
    lines = [f'"""The records of perpd\'s answers (json.md). {NOTE}"""',
             "from __future__ import annotations", "",
             "from typing import Literal, NotRequired, TypedDict"]
    for title, schema in schemas.items():
        if "enum" in schema:
            lines += ["", f"{title} = Literal[", wrapped(schema["enum"], "    ") + ",", "]"]
            continue
        required = schema.get("required", ())
        if any(map(keyword.iskeyword, schema["properties"])):  # a class cannot have such a member
            lines += ["", "", f"{title} = TypedDict({title!r}, {{".replace("'", '"')]
            for name, part in schema["properties"].items():
                _, _, kind = "".join(member(name, part, name in required)).partition(": ")
                lines.append(f'    "{name}": {kind!r},')
            lines.append("})")
            continue
        lines += ["", "", f"class {title}(TypedDict):"]
        for name, part in schema["properties"].items():
            lines += member(name, part, name in required)
    return "\n".join(lines) + "\n"
