#!/usr/bin/env python3
"""The ways of the naive listings, over the redis module: what most tutorials do.

    peer_listing.py ADDRESS                 answers lines "WORK SECONDS" with "ok OPERATIONS SECONDS" or "no WHY"
    peer_listing.py ADDRESS WORK [SECONDS]  prints operations/s

ADDRESS is unix:PATH or HOST:PORT. Everything lies in database 2, which "forget" empties.
"""

import bisect
import json
import sys
import time
import uuid

import redis

DATABASE = 2
LETTERS = "`abcdefghijklmnopqrstuvwxyz{"
PRECISIONS = (1, 5, 60, 300, 3600, 18000, 86400)
PENDING = 100000
RANGES = 20000


# --- lock: SETNX with an id, released by WATCH, GET, MULTI, DEL, EXEC. It has no lease. -----------------------------


def take_lock(server, name, patience=10.0):
    owner = str(uuid.uuid4())
    give_up = time.time() + patience
    while time.time() < give_up:
        if server.setnx("lock:" + name, owner):
            return owner
        time.sleep(0.001)
    return None


def give_lock(server, name, owner):
    key = "lock:" + name
    pipe = server.pipeline(True)
    while True:
        try:
            pipe.watch(key)
            if pipe.get(key) != owner.encode():
                pipe.unwatch()
                return False
            pipe.multi()
            pipe.delete(key)
            pipe.execute()
            return True
        except redis.exceptions.WatchError:
            continue


# --- fair semaphore: times and arrivals in two sorted sets, by the clients' clocks. --------------------------------


def take_permit(server, name, limit, lease=10.0):
    owner = str(uuid.uuid4())
    owners = name + ":owner"
    now = time.time()
    pipe = server.pipeline(True)
    pipe.zremrangebyscore(name, "-inf", now - lease)
    pipe.zinterstore(owners, {owners: 1, name: 0})
    pipe.incr(name + ":counter")
    number = pipe.execute()[-1]
    pipe.zadd(name, {owner: now})
    pipe.zadd(owners, {owner: number})
    pipe.zrank(owners, owner)
    if pipe.execute()[-1] < limit:
        return owner
    give_permit(server, name, owner)
    return None


def give_permit(server, name, owner):
    pipe = server.pipeline(True)
    pipe.zrem(name, owner)
    pipe.zrem(name + ":owner", owner)
    return pipe.execute()[0]


def refresh_permit(server, name, owner):
    if server.zadd(name, {owner: time.time()}):
        give_permit(server, name, owner)
        return False
    return True


# --- chat: a sorted set of messages, a counter, who has seen what; a lock for each send. ---------------------------


def create_chat(server, chat, members):
    pipe = server.pipeline(True)
    pipe.zadd("chat:" + chat, {member: 0 for member in members})
    for member in members:
        pipe.zadd("seen:" + member, {chat: 0})
    pipe.execute()


def pack_message(number, sender, text):
    return json.dumps({"id": number, "ts": time.time(), "sender": sender, "message": text})


def send_message(server, chat, sender, text):
    owner = take_lock(server, "chat:" + chat)
    if owner is None:
        raise RuntimeError("no lock")
    try:
        number = server.incr("ids:" + chat)
        server.zadd("msgs:" + chat, {pack_message(number, sender, text): number})
    finally:
        give_lock(server, "chat:" + chat, owner)


def fetch_pending(server, member):
    seen = server.zrange("seen:" + member, 0, -1, withscores=True)
    pipe = server.pipeline(True)
    for chat, last in seen:
        pipe.zrangebyscore(b"msgs:" + chat, last + 1, "inf")
    got = []
    for (chat, _), packed in zip(seen, pipe.execute()):
        if not packed:
            continue
        messages = [json.loads(one) for one in packed]
        last = messages[-1]["id"]
        server.zadd(b"chat:" + chat, {member: last})
        least = server.zrange(b"chat:" + chat, 0, 0, withscores=True)
        pipe.zadd("seen:" + member, {chat: last})
        if least:
            pipe.zremrangebyscore(b"msgs:" + chat, 0, least[0][1])
        got.append((chat, messages))
    pipe.execute()
    return got


# --- guild: two sentinels are put in, their ranks are taken, they are taken out again, all under WATCH. -------------


def prefix_bounds(prefix):
    place = bisect.bisect_left(LETTERS, prefix[-1])
    return prefix[:-1] + LETTERS[(place or 1) - 1] + "{", prefix + "{"


def complete(server, guild, prefix):
    first, last = prefix_bounds(prefix)
    mark = str(uuid.uuid4())
    first, last = first + mark, last + mark
    key = "members:" + guild
    server.zadd(key, {first: 0, last: 0})
    pipe = server.pipeline(True)
    while True:
        try:
            pipe.watch(key)
            begin = pipe.zrank(key, first)
            end = pipe.zrank(key, last)
            until = min(begin + 9, end - 2)
            pipe.multi()
            pipe.zrem(key, first, last)
            pipe.zrange(key, begin, until)
            found = pipe.execute()[-1]
            break
        except redis.exceptions.WatchError:
            continue
    return [name for name in found if b"{" not in name]


# --- counters and places -------------------------------------------------------------------------------------------


def update_counter(server, name, by=1):
    now = time.time()
    pipe = server.pipeline(True)
    for precision in PRECISIONS:
        start = int(now / precision) * precision
        key = "%s:%s" % (precision, name)
        pipe.zadd("known:", {key: 0})
        pipe.hincrby("count:" + key, start, by)
    pipe.execute()


def score_of(address):
    score = 0
    for part in address.split("."):
        score = score * 256 + int(part)
    return score


def find_city(server, address):
    found = server.zrevrangebyscore("ip2cityid:", score_of(address), 0, start=0, num=1)
    if not found:
        return None
    return json.loads(server.hget("cityid2city:", found[0].partition(b"_")[0]))


# --- the works ------------------------------------------------------------------------------------------------------


class Works:
    """Each method does its work for so many seconds and returns (operations, seconds)."""

    def __init__(self, server):
        self.server = server
        self.ready = set()
        self.number = 0

    def forget(self, _seconds):
        self.server.flushdb()
        self.ready.clear()
        return 0, 0.0

    def hello(self, _seconds):
        self.server.ping()
        return 0, 0.0

    def once(self, name, prepare):
        if name not in self.ready:
            prepare()
            self.ready.add(name)

    @staticmethod
    def repeat(seconds, step):
        count = 0
        begun = time.perf_counter()
        end = begun + seconds
        while time.perf_counter() < end:
            count += step()
        return count, time.perf_counter() - begun

    def lock(self, seconds):
        def step():
            owner = take_lock(self.server, "market")
            return 1 if give_lock(self.server, "market", owner) else 0

        return self.repeat(seconds, step)

    def permit(self, seconds):
        def step():
            owner = take_permit(self.server, "arena", 1000)
            return 1 if give_permit(self.server, "arena", owner) else 0

        return self.repeat(seconds, step)

    def refresh(self, seconds):
        owners = [take_permit(self.server, "hall", 1000) for _ in range(50)]

        def step():
            return sum(refresh_permit(self.server, "hall", owner) for owner in owners)

        result = self.repeat(seconds, step)
        for owner in owners:
            give_permit(self.server, "hall", owner)
        return result

    def send(self, seconds):
        self.once("raid", lambda: create_chat(self.server, "raid", ["jason", "jeff"]))

        def step():
            send_message(self.server, "raid", "jason", "where are you? we wait at the gate")
            return 1

        return self.repeat(seconds, step)

    def fill_chat(self):
        create_chat(self.server, "hall", ["absent", "reader"])
        pipe = self.server.pipeline(False)
        for number in range(1, PENDING + 1):
            text = pack_message(number, "jason", "where are you? we wait at the gate")
            pipe.zadd("msgs:hall", {text: number})
            if number % 5000 == 0:
                pipe.execute()
        pipe.execute()

    def fetch(self, seconds):
        """The member that is absent keeps the messages; the reader is set back between two fetches."""
        self.once("hall", self.fill_chat)
        count, spent = 0, 0.0
        while spent < seconds:
            self.server.zadd("seen:reader", {"hall": 0})
            begun = time.perf_counter()
            count += sum(len(messages) for _, messages in fetch_pending(self.server, "reader"))
            spent += time.perf_counter() - begun
        return count, spent

    def fill_guild(self, size):
        pipe = self.server.pipeline(False)
        for number in range(size):
            pipe.zadd("members:%d" % size, {roster_name(number): 0})
            if number % 5000 == 0:
                pipe.execute()
        pipe.execute()

    def guild(self, seconds, size, width):
        self.once("guild %d" % size, lambda: self.fill_guild(size))

        def step():
            self.number += 1
            return 1 if complete(self.server, str(size), roster_name(self.number * 7919 % size)[:width]) else 0

        return self.repeat(seconds, step)

    def guild1000(self, seconds):
        return self.guild(seconds, 1000, 1)

    def guild100000(self, seconds):
        return self.guild(seconds, 100000, 2)

    def counter(self, seconds):
        def step():
            update_counter(self.server, "hits")
            return 1

        return self.repeat(seconds, step)

    def fill_places(self):
        pipe = self.server.pipeline(False)
        for number in range(RANGES):
            pipe.zadd("ip2cityid:", {"%d_%d" % (number, number): number * 200000})
            pipe.hset("cityid2city:", number, json.dumps(["city %d" % number, "region", "country"]))
            if number % 5000 == 0:
                pipe.execute()
        pipe.execute()

    def geo(self, seconds):
        self.once("places", self.fill_places)

        def step():
            self.number = (self.number * 1103515245 + 12345) % 2**31
            address = "%d.%d.%d.%d" % tuple((self.number * 2 + 3).to_bytes(5, "big")[-4:])
            return 1 if find_city(self.server, address) else 0

        return self.repeat(seconds, step)


def roster_name(number):
    """Eight letters that look random; the bench of Guildhall makes the same ones."""
    value = (number * 2654435761 + 12345) % 2**32
    letters = []
    for _ in range(8):
        letters.append("abcdefghijklmnopqrstuvwxyz"[(value >> 16) % 26])
        value = (value * 1664525 + 1013904223) % 2**32
    return "".join(letters)


def connect(address):
    if address.startswith("unix:"):
        return redis.Redis(unix_socket_path=address[5:], db=DATABASE)
    host, _, port = address.rpartition(":")
    return redis.Redis(host=host, port=int(port), db=DATABASE)


def do(works, name, seconds):
    work = getattr(works, name, None)
    if work is None or name.startswith("_"):
        raise ValueError("no work is called " + name)
    return work(seconds)


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    works = Works(connect(arguments[1]))
    if len(arguments) > 2:
        count, spent = do(works, arguments[2], float(arguments[3]) if len(arguments) > 3 else 1.0)
        print("%.0f operations/s" % (count / spent))
        return
    for line in sys.stdin:
        try:
            name, seconds = line.split()
            print("ok %d %.9f" % do(works, name, float(seconds)), flush=True)
        except (redis.exceptions.RedisError, RuntimeError, ValueError) as problem:
            print("no " + str(problem).replace("\n", " "), flush=True)


if __name__ == "__main__":
    main(sys.argv)
