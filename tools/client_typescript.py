"""client_typescript.py - generates wire.gen.ts and types.gen.ts of clients/ts; the former is the
console's too.
"""
import json
import textwrap

from client_tables import NOTE, enums, pascal, signed, wrapped

TYPES = {  # kind of a field: its type; every other kind is a number
    "portfolio": "PortfolioId", "account": "bigint", "u64": "bigint", "i64": "bigint",
    "bool": "boolean", "amount": "bigint", "time": "bigint", "expiry": "bigint",
    "price": "bigint", "quantity": "bigint", "size": "bigint", "uuid": "string",
    "text": "string", "key": "Uint8Array", "hash": "Uint8Array", "address": "Uint8Array",
    "credential": "Uint8Array", "document": "Uint8Array", "items": "readonly BatchItem[]",
}
HEAD = """
export interface PortfolioId {
  readonly account_id: bigint;
  readonly subaccount_index: number;
  readonly portfolio_index: number;
}

export interface Field {
  readonly name: string;
  readonly kind: string;
  readonly offset: number;
  readonly size: number | null;
  readonly names?: readonly string[];
}

export interface RequestType {
  readonly code: number;
  readonly name: string;
  readonly signer: string;
  readonly path: string | null;
  readonly answer: string;
  readonly built: boolean;
  readonly body_bytes: number | null;
  readonly fields: readonly Field[];
}
"""


def constant(name, values):
    return ["", f"export const {name} = [", wrapped(values, "  ") + ",", "] as const;"]


def interface(title, fields, classes):
    counted = any(field["kind"] == "items" for field in fields)
    yield from ["", f"export interface {title} {{"]
    for field in fields:
        kind = field["kind"]
        if kind in ("pad", "length") or counted and field["name"] == "count":
            continue
        typed = classes[tuple(field["names"])] if kind == "enum" else TYPES.get(kind, "number")
        yield f"  readonly {field['name']}: {typed};"
    yield "}"


def row_lines(row):
    head = {name: row[name] for name in ("code", "name", "signer", "path", "answer", "built",
                                         "body_bytes")}
    yield f"  {row['name']}: {{"
    yield "".join(f"    {name}: {json.dumps(value)},\n" for name, value in head.items()) + \
        "    fields: ["
    yield from field_lines(row["fields"], "      ")
    yield "    ],\n  },"


def field_lines(fields, indent):
    for field in fields:
        names = field.get("names")
        text = ", ".join(f"{name}: {json.dumps(value)}" for name, value in field.items()
                         if name != "names")
        yield f"{indent}{{ {text}" + (", names: [" if names else " },")
        if names:
            yield wrapped(names, indent + "  ") + f",\n{indent}] }},"


def wire(tables):
    """Field tables of every request that a client signs, enums, statuses, reasons, problems."""
    classes = enums(tables)
    lines = [f"// Requests, statuses, reasons and problem codes of perpd. {NOTE}", "",
             "export const HEADER_VERSION = 1;"]
    lines += constant("STATUSES", tables["statuses"])
    lines += ["export type Status = (typeof STATUSES)[number];"]
    lines += constant("REASONS", [row["name"] for row in tables["reasons"]])
    lines += ["export type Reason = (typeof REASONS)[number];"]
    lines += constant("PROBLEM_CODES", [row["code"] for row in tables["problems"]])
    lines += ["export type ProblemCode = (typeof PROBLEM_CODES)[number];"]
    lines += ["", "// The type that EIP-712 typed data has for each kind of field; null: none.",
              "export const KINDS = {"]
    lines += [f"  {row['kind']}: {json.dumps(row['eip712'])}," for row in tables["kinds"]]
    lines += ["} as const;", HEAD.rstrip()]
    for names, title in classes.items():
        values = " |\n  ".join(f'"{name}"' for name in names)
        lines += ["", f"export type {title} =\n  {values};"]
    lines += interface("BatchItem", tables["batch_item"], classes)
    for row in signed(tables):
        lines += interface(pascal(row["name"]), row["fields"], classes)
    lines += ["", "export interface Bodies {"]
    lines += [f"  readonly {row['name']}: {pascal(row['name'])};" for row in signed(tables)]
    lines += ["}", "", "export const BATCH_ITEM: readonly Field[] = ["]
    lines += field_lines(tables["batch_item"], "  ")
    lines += ["];", ""]
    lines += ["export const REQUESTS: { readonly [Name in keyof Bodies]: RequestType } = {"]
    for row in signed(tables):
        lines += row_lines(row)
    return "\n".join([*lines, "};", ""])


def type_of(schema, name=""):
    """The TypeScript type; an integer that may exceed 2^53 is a bigint (see `wide`)."""
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[1]
    if "anyOf" in schema:
        return " | ".join(type_of(part, name) for part in schema["anyOf"])
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    kinds = schema.get("type", "any")
    if isinstance(kinds, list):
        return " | ".join(type_of({**schema, "type": kind}, name) for kind in kinds)
    if kinds == "array":
        inner = type_of(schema["items"], name)
        return f"readonly ({inner})[]" if " " in inner else f"readonly {inner}[]"
    if kinds == "integer":
        return "bigint" if wide(name) else "number"
    return {"string": "string", "boolean": "boolean", "null": "null", "number": "number",
            "object": "{ readonly [name: string]: unknown }", "any": "unknown"}[kinds]


def member(name, kind):
    """A member of a record; the names of a long enum on lines of their own."""
    line = f"  readonly {name}: {kind};"
    if len(line) < 100:
        return [line]
    rows = textwrap.wrap(kind, 94)
    return [f"  readonly {name}:", *(f"    {row}" for row in rows[:-1]), f"    {rows[-1]};"]


def wide(name):
    """Whether the integer member of this name is a bigint: sequences, account ids, nanoseconds."""
    return (name.endswith(("_ns", "sequence", "seq")) or
            name in ("account_id", "expires_at", "applied", "durable"))


def integers(schemas):
    """The names of all members that are integers."""
    for schema in schemas.values():
        for name, part in schema.get("properties", {}).items():
            kinds = part.get("type", ())
            if kinds == "integer" or isinstance(kinds, list) and "integer" in kinds:
                yield name


def records(schemas):
    lines = [f"// The records of perpd's answers (docs/spec/json.md). {NOTE}", "",
             "// The members that are integers of 64 bits: json.ts makes bigints of them."]
    lines += ["export const WIDE: ReadonlySet<string> = new Set(["]
    lines += [wrapped(sorted({name for name in integers(schemas) if wide(name)} |
                             {"prev_seq"}), "  ") + ",", "]);"]
    for title, schema in schemas.items():
        if "enum" in schema:
            values = " |\n  ".join(f'"{name}"' for name in schema["enum"])
            lines += ["", f"export type {title} =\n  {values};"]
            continue
        required = schema.get("required", ())
        lines += ["", f"export interface {title} {{"]
        for name, part in schema["properties"].items():
            lines += member(name + ("" if name in required else "?"), type_of(part, name))
        lines += ["}"]
    return "\n".join(lines) + "\n"
