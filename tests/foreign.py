#!/usr/bin/env python3
"""foreign.py -- a client in another language: sdk/KEYS.md, python3-redis and the scripts of sdk/src, nothing else.

    foreign.py SOCKET push QUEUE ID HANDLER PAYLOAD DELAY_US     a task; says its code
    foreign.py SOCKET say CHAT PLAYER TEXT                       a message; says the code and its id
    foreign.py SOCKET read COUNTER SECONDS                       slices of the last 120, the oldest first
    foreign.py SOCKET hold LOCK LEASE_US                         takes a lock; says the code and the fence

Every request is sent twice with the same sequence, as after a lost connection: that must change nothing.
"""
import os
import sys

import redis

SCRIPTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "sdk", "src")
PLAIN = b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-"


def encoded(name):
    """A name as it stands in keys."""
    return "".join(chr(byte) if byte in PLAIN else "%%%02x" % byte for byte in name.encode())


def lines_of(path):
    """A script's lines with its parts in their places, as the page says; its comments may stay."""
    with open(os.path.join(SCRIPTS, path), encoding="ascii") as file:
        for line in file:
            yield from lines_of(line.split()[1]) if line.lstrip().startswith("--@ ") else [line]


def elements(answer):
    """Of an answer, in one text or not."""
    return answer.split(b" ") if isinstance(answer, bytes) else answer


class Client:
    def __init__(self, socket):
        self.redis = redis.Redis(unix_socket_path=socket)
        self.id = os.urandom(8).hex()
        self.sequence = 0

    def next(self):
        self.sequence += 1
        return self.sequence

    def token(self):
        return "%s:%016x" % (self.id, self.sequence)

    def run(self, script, keys, *arguments):
        """Twice the same; the answers must agree."""
        digest = self.redis.script_load("".join(lines_of(script + ".lua")))
        first = elements(self.redis.evalsha(digest, len(keys), *keys, *arguments))
        again = elements(self.redis.evalsha(digest, len(keys), *keys, *arguments))
        if first[:1] != again[:1]:
            raise SystemExit("%s answers another sequence to a repeat" % script)
        return first, again


def push(client, queue, task, handler, payload, delay_us):
    base = "gh:{tasks:%s}:" % encoded(queue)
    value = b"0 5 %d:%s%s" % (len(handler), handler.encode(), payload.encode())
    keys = [base + part for part in ("p", "m", "t", "i", "r0", "d0")]
    first, again = client.run("tasks/tasks_push", keys, client.next(), 1000000, 0, 1, task, delay_us, value)
    print(first[2].decode(), again[2].decode())


def say(client, chat, player, text):
    base = "gh:{chat:%s}:" % encoded(chat)
    keys = [base + part for part in ("s", "m", "v", "h", "w" + client.id[:2])]
    sequence = client.next()
    first, again = client.run("chat/chat_send", keys, client.token(), sequence, 0, player, text)
    if first[2] != again[2]:
        raise SystemExit("the repeat of a message has another id")
    print(first[1].decode(), first[2].decode())


def read(client, name, seconds):
    # The shard is XXH3-64 of the name, modulo 64; without that function, look into all of them.
    for shard in range(64):
        base = "gh:{counters:%d}:" % shard
        keys = [base + "o:" + encoded(name), base + "c:%s:%s" % (seconds, encoded(name))]
        slices = client.run("counters/counters_read", keys, client.next(), seconds, 0, 120, 0, 120)[0][4:]
        for text in reversed(slices):
            print(text.decode())


def hold(client, name, lease_us):
    base = "gh:{lock:%s}:" % encoded(name)
    keys = [base + part for part in ("s", "q", "c")]
    sequence = client.next()
    first, again = client.run("lock/lock_acquire", keys, client.token(), sequence, lease_us, 0, 200000, 0, 0)
    if first[1:3] != again[1:3]:
        raise SystemExit("the repeat of a grant is another grant")
    print(first[1].decode(), first[2].decode())


COMMANDS = {"push": push, "say": say, "read": read, "hold": hold}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[2] not in COMMANDS:
        sys.exit(__doc__)
    COMMANDS[sys.argv[2]](Client(sys.argv[1]), *sys.argv[3:])
