"""rooms.py - tools/rooms.txt as a table: which rooms a folder has, and what each may name."""
import collections
import pathlib

TOP = ""  # the room of the files in the folder itself


class Rooms:
    """`may`: folder -> {room: the lower rooms it may name}, lowest first, TOP last.
    `excepted`: (file, header), paths from the root, of the upward edges that may remain.
    """

    def __init__(self, root):
        self.may = collections.defaultdict(dict)
        self.excepted = []
        self.wrong = []  # what is wrong with the table itself
        for line in (root / "tools/rooms.txt").read_text().splitlines():
            fields = line.split("#")[0].split()
            if fields[:1] == ["except"]:
                self.excepted.append(tuple(fields[1:]))
            elif fields:
                folder, room, *lower = fields
                for name in lower:
                    if name not in self.may[folder]:
                        self.wrong.append(f"{folder}: {room} may not name {name}, which is above")
                self.may[folder][room] = set(lower)
        for rooms in self.may.values():
            rooms[TOP] = set(rooms)

    def of(self, path):
        """(folder, room) of a path from the root; room None: a subfolder that is no room.
        (None, None): not in a folder that has rooms.
        """
        parts = pathlib.PurePosixPath(path).parts
        folder = "/".join(parts[:2])
        if folder not in self.may or len(parts) < 3:
            return None, None
        room = "/".join(parts[2:-1])
        return folder, room if room in self.may[folder] else None

    def allowed(self, folder, source, target):
        return source == target or target in self.may[folder][source]

    def title(self, folder, room):
        return room or folder.split("/")[-1]
