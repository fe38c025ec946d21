# guildhall.py -- shows ops, strings, names and clients in gdb, as they are and not as their bytes.
#
#     (gdb) source sdk/gdb/guildhall.py
#     (gdb) print jason->seat
#     $1 = {{op = busy, sequence 12: semaphore, state 3, PENDING, request sent, tag 7, ...
#
# Only looks: no function of the program is called, so that it serves for a core file, too.

import gdb
import gdb.printing

TEXT_MAX = 200  # bytes that are shown of a string
REQUESTS = ["no request", "request queued", "request sent", "request paused"]
LINKS = ["idle", "resolving", "connecting", "hand-shake", "ready", "back-off"]


def text_of(first, size):
    """Any bytes, in quotes; what is no printable ASCII as \\xNN."""
    shown = bytes(gdb.selected_inferior().read_memory(int(first), min(size, TEXT_MAX))) if size > 0 else b""
    plain = "".join(chr(b) if 32 <= b < 127 and chr(b) not in '"\\' else "\\x%02x" % b for b in shown)
    return '"%s"%s' % (plain, "..." if size > TEXT_MAX else "")


def word_of(status):
    """GH_TIMEOUT --> TIMEOUT; the number, if the program has no name for it."""
    word = str(status)
    return word[3:] if word.startswith("GH_") else word


class StrPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        size = int(self.value["size"])
        if int(self.value["bytes"]) == 0:
            return "none" if size == 0 else "NULL with a size of %d" % size
        return text_of(self.value["bytes"], size)


class NamePrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        return text_of(self.value["bytes"].address, int(self.value["size"]))


class OpPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        op = self.value
        if int(op["kind"]) == 0:
            return "idle"
        system = op["kind"]["name"].string()
        busy = int(op["timer_index"]) != 0
        parts = [system]
        if busy:
            parts.append("state %d" % int(op["state"]))
        parts.append(word_of(op["status"]))
        if busy:
            parts.append(REQUESTS[int(op["request"])])
        parts.append("tag %d" % int(op["tag"]))
        if int(op["user"]) != 0:
            parts.append("user 0x%x" % int(op["user"]))
        if busy and op.address is not None and int(op["self"]) != int(op.address):
            parts.append("a COPY of the op at 0x%x" % int(op["self"]))
        since = "busy, sequence %d: " % int(op["sequence"]) if busy else "ended: "
        return since + ", ".join(parts)


class ClientPrinter:
    def __init__(self, value):
        self.value = value

    def to_string(self):
        client = self.value
        if int(client["magic"]) != 0x6775696C64686131:
            return "no client, or shut down"
        return "client %016x%s: command link %s, wake link %s, ops busy %d, requests waiting %d, on the wire %d" % (
            int(client["id"]),
            ", draining" if client["draining"] else "",
            LINKS[int(client["nodes"]["link"]["state"])],
            LINKS[int(client["wake"]["state"])],
            int(client["timers"]["count"]),
            int(client["nodes"]["urgent"]["count"]) + int(client["nodes"]["waiting"]["count"]),
            int(client["slots_used"]),
        )


def printers():
    made = gdb.printing.RegexpCollectionPrettyPrinter("guildhall")
    made.add_printer("gh_str", "^gh_str$", StrPrinter)
    made.add_printer("gh_name", "^gh_name$", NamePrinter)
    made.add_printer("gh_op", "^gh_op$", OpPrinter)
    made.add_printer("gh_client", "^gh_client$", ClientPrinter)
    return made


gdb.printing.register_pretty_printer(gdb.current_objfile(), printers(), replace=True)
