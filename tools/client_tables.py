"""client_tables.py - what the generators of client code share: names, and the tables' enums."""
import textwrap

NOTE = "Made by tools/clients; do not edit."


def pascal(name):
    return "".join(word.capitalize() for word in name.split("_"))


def signed(wire):
    """The requests that a client can sign, in the order of their codes."""
    return [row for row in wire["requests"] if row["signer"] != "node"]


def enums(wire):
    """{names of an enum: the name of its class}. The first enum of a field name has that name; one
    of other names that comes later has its request's name before it."""
    found = {}
    rows = [(pascal(row["name"]), row["fields"]) for row in signed(wire)]
    for owner, fields in [*rows, ("BatchItem", wire["batch_item"])]:
        for field in fields:
            names = tuple(field.get("names", ()))
            if field["kind"] == "enum" and names not in found:
                title = pascal(field["name"])
                found[names] = owner + title if title in found.values() else title
    return found


def wrapped(values, indent):
    """The values, each in double quotes, in lines of less than 100 columns."""
    text = ", ".join(f'"{value}"' for value in values)
    return textwrap.fill(text, 98, initial_indent=indent, subsequent_indent=indent)
