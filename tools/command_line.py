"""command_line.py - the command line of a tool: --help shows its text; a word that it does not take
ends it with exit code 2 and a sentence.
"""
import sys


def check(text, least, most, flags=()):
    """`text`: the tool's own, which begins with its name; `least` to `most` words beside flags."""
    name = "tools/" + text.split()[0]
    given = sys.argv[1:]
    if "-h" in given or "--help" in given:
        print(text.rstrip())
        sys.exit(0)
    words = [word for word in given if word not in flags]
    unknown = [word for word in words if word.startswith("-")]
    if unknown:
        wrong = f"unknown option {unknown[0]}"
    elif len(words) > most:
        wrong = f"'{words[most]}' is one word too many"
    elif len(words) < least:
        wrong = f"{least - len(words)} more words are needed"
    else:
        return
    print(f"{name}: {wrong} (see {name} --help)", file=sys.stderr)
    sys.exit(2)
