"""Plays a scenario on a side (engine_side, http_side): packs each line's request and compares its
status."""
import hashlib
import json
import uuid
from datetime import datetime

import bodies
from bodies import ALL16, ALL32
from expectations import Different, Expectations
from markets import Market, Wrong, standard, usdc
from script import Step

SECOND = 10**9
UNITS = {"ms": 10**6, "s": SECOND, "m": 60 * SECOND, "h": 3600 * SECOND, "d": 86400 * SECOND}
NO_MARKET = {"ALL": ALL16, "NONE": 0}
START = "2026-01-05T12:30:00Z"
AMOUNTS = "position_limit", "open_interest_limit"  # of a market record: texts, may be absent


def nanoseconds(text):
    """"30s", "100ms", "24h" as ns; "raw:N" as N."""
    if text.startswith("raw:"):
        return int(text[4:])
    for unit in ("ms", "s", "m", "h", "d"):
        if text.endswith(unit) and text[:-len(unit)].lstrip("-").isdigit():
            return int(text[:-len(unit)]) * UNITS[unit]
    raise Wrong(f"{text} is no time")


class Player(Expectations):
    def __init__(self, side, scenario):
        self.side, self.scenario = side, scenario
        self.markets = {own["base"]: Market(own) for own in standard()}
        self.actors, self.ids, self.orders, self.withdrawals = {}, {}, {}, {}
        self.last = None  # code, body, key, id of the last request
        self.publish_ns = 0
        self.lines = 0

    # --- names --------------------------------------------------------------------------------

    def market(self, name):
        if name not in self.markets:
            raise Wrong(f"no market {name}")
        return self.markets[name]

    def asset(self, name):
        if name.startswith("raw:"):
            return int(name[4:])
        return NO_MARKET[name] if name in NO_MARKET else self.market(name).asset

    def place(self, text):
        """"alice", "alice/1", "alice/1/2", "alice/*", "alice/1/*", "account:77/0/0"."""
        name, *rest = text.split("/")
        account = int(name[8:]) if name.startswith("account:") else self.actors[name]["account"]
        numbers = [ALL32 if word == "*" else int(word) for word in rest]
        if numbers and numbers[0] == ALL32:
            return account, ALL32, ALL32
        return (account, *(numbers + [0, 0])[:2])

    def actor(self, text):
        return self.actors.get(text.split("/")[0])

    def time_of(self, text):
        """"+60s" from now, "raw:N", or 0."""
        if text.startswith(("+", "-")):
            sign = -1 if text[0] == "-" else 1
            return self.side.clock_ns + sign * nanoseconds(text[1:])
        return nanoseconds(text) if text != "0" else 0

    def target(self, name):
        """Id, place, market and side of an order by its name; a raw id in hex as well."""
        if name in self.orders:
            return self.orders[name]
        return bytes.fromhex(name), None, None, None

    def new_id(self, step, word=None):
        name = step.options.get("id")
        if name is not None:
            return self.ids[name] if name in self.ids else bytes.fromhex(name)
        fresh = self.side.new_id()
        if word is not None:
            self.ids[word] = fresh
        return fresh

    def signer(self, step, default):
        """The key of `by=`: master, operator, oracle, nobody, an account, or a session's name."""
        by = step.options.get("by")
        if by is None:
            return default
        if by in ("operator", "oracle"):
            return self.side.operator if by == "operator" else self.side.oracle_key
        if by == "nobody":
            return self.side.session_key()
        if by == "master":
            return self.actor(step.words[0])["master"]
        if by.startswith("master:"):
            return self.actors[by[7:]]["master"]
        if by in self.actors:
            return self.actors[by]["session"]
        return self.ids["session:" + by]

    # --- sending ------------------------------------------------------------------------------

    def send(self, step, code, body, key, request_id=None):
        for option, value in step.options.items():
            if option.startswith("body["):
                at = int(option[5:-1])
                patch = bytes.fromhex(value)
                body = body[:at] + patch + body[at + len(patch):]
        request_id = request_id or self.new_id(step)
        key = self.signer(step, key)
        self.last = (code, body, key, request_id)
        out = self.side.request(code, body, key, request_id)
        self.check(step, out)
        return out

    def check(self, step, out):
        want, _, reason = step.status.partition("/")
        if out["status"] != want and want != "*":
            raise Different(f"{step}: expected {step.status}, got {out['status']}"
                            + (f"/{out['reason']}" if out["reason"] != "none" else ""))
        if reason and out["reason"] != reason:
            raise Different(f"{step}: expected reason {reason}, got {out['reason']}")

    def run(self):
        clock = datetime.fromisoformat((self.scenario.clock or START).replace("Z", "+00:00"))
        self.side.begin(self.scenario.config, int(clock.timestamp()) * SECOND,
                        list(self.markets.values()))
        for step in self.scenario.steps:
            method = getattr(self, "do_" + step.verb.replace("-", "_"), None)
            if method is None:
                raise Wrong(f"{step}: no such command")
            try:
                method(step)
            except (KeyError, IndexError, ValueError) as error:
                raise Wrong(f"{step}: {type(error).__name__} {error}") from error
            self.lines += 1
        if not self.side.audit()["holds"]:
            raise Different(f"{self.scenario.place}: I1 to I6 do not hold at the end")
        if not self.side.end():
            raise Different(f"{self.scenario.place}: the exchange did not end well")

    # --- accounts and cash --------------------------------------------------------------------

    def do_account(self, step):
        name = step.words[0]
        amount = step.words[1] if len(step.words) > 1 else "0"
        actor = {"master": self.side.master_key(), "session": self.side.session_key()}
        out = self.send(step, 11, bodies.account(actor["session"].public), actor["master"])
        if out["status"] != "account_created_with_session":
            return
        actor["account"] = out["account_id"]
        self.actors[name] = actor
        key = self.side.request(34, bodies.api_key(actor["account"], -1, 1), actor["session"],
                                self.side.new_id())
        actor["api_key_id"], actor["api_key"] = key["id"], key.get("api_key")
        if usdc(amount):
            self.credit((actor["account"], 0, 0), usdc(amount), name)

    def do_trading(self, step):
        """Three accounts of 100,000 USDC each and an index for three markets."""
        for name in ("alice", "bob", "carol"):
            self.do_account(Step(step.place, "account", [name, "100000"],
                                 "account_created_with_session"))
        for name, price in (("BTC", "100000"), ("ETH", "4000"), ("SOL", "200")):
            self.do_oracle(Step(step.place, "oracle", [name, price], "request_completed"))

    def credit(self, place, amount, name):
        reference = hashlib.sha256(f"{name} {len(self.ids)} {self.lines}".encode()).digest()
        out = self.side.request(1003, bodies.deposit(place, amount, reference),
                                self.side.operator, self.side.new_id())
        if out["status"] != "request_completed":
            raise Different(f"the deposit of {name}: {out['status']}")

    def do_deposit(self, step):
        name = step.options.get("ref", f"{step.place}")
        self.send(step, 1003,
                  bodies.deposit(self.place(step.words[0]), usdc(step.words[1]),
                                 hashlib.sha256(name.encode()).digest()), self.side.operator)

    def do_withdraw(self, step):
        out = self.send(step, 10, bodies.withdraw(self.place(step.words[0]), usdc(step.words[1])),
                        self.actor(step.words[0])["session"])
        if "as" in step.words and "withdrawal_id" in out:
            self.withdrawals[step.words[step.words.index("as") + 1]] = out["withdrawal_id"]

    def do_settle(self, step):
        name, outcome = step.words
        known = self.withdrawals.get(name) or bytes.fromhex(name)
        self.send(step, 1004, bodies.settle(known, ["settled", "reverted"].index(outcome)),
                  self.side.operator)

    def do_transfer(self, step):
        source, target, amount = step.words
        self.send(step, 9,
                  bodies.transfer(self.place(source), self.place(target), usdc(amount)),
                  self.actor(source)["session"])

    def do_subaccount(self, step):
        account = self.place(step.words[0])[0]
        self.send(step, 22, account.to_bytes(8, "little"), self.actor(step.words[0])["master"])

    def do_close_subaccount(self, step):
        account, subaccount, _ = self.place(step.words[0])
        self.send(step, 23, account.to_bytes(8, "little") + subaccount.to_bytes(8, "little"),
                  self.actor(step.words[0])["master"])

    def do_portfolio(self, step):
        account, subaccount, _ = self.place(step.words[0])
        self.send(step, 24,
                  bodies.new_portfolio(account, subaccount, step.options.get("name", "")),
                  self.actor(step.words[0])["session"])

    def do_close_account(self, step):
        self.send(step, 32, self.place(step.words[0])[0].to_bytes(8, "little"),
                  self.actor(step.words[0])["master"])

    def do_session(self, step):
        actor, name = self.actor(step.words[0]), step.words[1]
        key = self.ids.get("session:" + name) or self.side.session_key()
        scope = ["full", "trading"].index(step.options.get("scope", "full"))
        body = bodies.session(actor["account"], key.public,
                              self.time_of(step.options.get("expires", "0")),
                              int(step.options.get("pin", "-1")), scope)
        self.ids["session:" + name] = key
        self.send(step, 13, body, actor["master"])

    def do_revoke(self, step):
        actor, key = self.actor(step.words[0]), self.ids["session:" + step.words[1]]
        self.send(step, 14, actor["account"].to_bytes(8, "little") + key.public, actor["master"])

    # --- JSON writes --------------------------------------------------------------------------

    def setting(self, step, code, place, more):
        actor = self.actor(step.options.get("by", step.words[0]))
        got = self.side.setting(code, actor, bodies.portfolio(place) + more)
        if got != step.status:
            raise Different(f"{step}: expected {step.status}, got {got}")

    def do_leverage(self, step):
        name, market, leverage = step.words
        self.setting(step, 2001, self.place(name), int(leverage).to_bytes(4, "little")
                     + self.asset(market).to_bytes(4, "little"))

    def do_portfolio_close(self, step):
        self.setting(step, 2002, self.place(step.words[0]), b"")

    def do_portfolio_reopen(self, step):
        self.setting(step, 2003, self.place(step.words[0]), b"")

    def do_faucet(self, step):
        self.setting(step, 2009, self.place(step.words[0]),
                     usdc(step.words[1]).to_bytes(8, "little"))

    def do_rename(self, step):
        self.setting(step, 2010, self.place(step.words[0]),
                     step.words[1].encode().ljust(32, b"\0"))

    # --- orders -------------------------------------------------------------------------------

    def flags(self, step):
        """post_only, reduce_only, stp."""
        stp = step.options.get("stp", "EXPIRE_TAKER")
        return (int("post" in step.words), int("reduce" in step.words),
                bodies.STP[stp] if stp in bodies.STP else int(stp))

    def expiry(self, step):
        if "gtt" in step.options:
            return self.time_of(step.options["gtt"])
        return bodies.IOC if "ioc" in step.words else bodies.FOK if "fok" in step.words else \
            bodies.GTC

    def named(self, step, order_id, place, market, side):
        if "as" in step.words:
            name = step.words[step.words.index("as") + 1]
            self.orders[name] = (order_id, place, market, side)
            self.ids[name] = order_id

    def terms(self, step, words):
        """Market, signed raw quantity and price of "BTC buy 1 @100"."""
        market = self.market(words[0]) if words[0] in self.markets else None
        scale = market or self.market("BTC")
        side = {"buy": 1, "sell": -1}[words[1]]
        price = [word[1:] for word in words if word.startswith("@")]
        return (market, self.asset(words[0]), side * scale.size(words[2]), side,
                scale.price(price[0]) if price else 0)

    def do_limit(self, step):
        place, request_id = self.place(step.words[0]), self.new_id(step)
        market, asset, quantity, side, price = self.terms(step, step.words[1:])
        self.named(step, request_id, place, market, side)
        self.send(step, 0, bodies.limit(place, asset, price, quantity, self.expiry(step),
                                        self.flags(step)),
                  self.actor(step.words[0])["session"], request_id)

    def do_market(self, step):
        place, request_id = self.place(step.words[0]), self.new_id(step)
        market, asset, quantity, side, _ = self.terms(step, step.words[1:])
        self.named(step, request_id, place, market, side)
        self.send(step, 5, bodies.market(place, asset, quantity,
                                         int(step.options.get("slippage", "0")), self.flags(step)),
                  self.actor(step.words[0])["session"], request_id)

    def do_stop(self, step):
        place, request_id = self.place(step.words[0]), self.new_id(step)
        market, asset, quantity, side, price = self.terms(step, step.words[1:])
        scale = market or self.market("BTC")
        has_limit = any(word.startswith("@") for word in step.words)
        kind = bodies.TYPES[step.verb + ("-limit" if has_limit else "")]
        tif = 1 if "fok" in step.words else 2 if "gtc" in step.words else 0
        source = step.options.get("source", "mark")
        group = step.options.get("oco")
        terms = {
            "trigger": scale.price(step.options["trigger"]), "price": price,
            "life": self.time_of(step.options["life"]) if "life" in step.options else bodies.GTC,
            "type": int(step.options.get("type", kind)),
            "slippage": int(step.options.get("slippage", "0")),
            "source": bodies.SOURCES[source] if source in bodies.SOURCES else int(source),
            "tif": int(step.options.get("tif", tif)),
            "oco": uuid.uuid5(uuid.NAMESPACE_DNS, group).bytes if group else bytes(16),
        }
        self.named(step, request_id, place, market, side)
        self.send(step, 6, bodies.conditional(place, asset, quantity, terms, self.flags(step)),
                  self.actor(step.words[0])["session"], request_id)

    do_take = do_stop

    def of_target(self, step, name):
        """Id, place, market, asset and side of the order that a line names."""
        order_id, place, market, side = self.target(name)
        if "in" in step.options or place is None:
            place = self.place(step.options.get("in", step.words[0]))
        market = self.market(step.options["on"]) if step.options.get("on") in self.markets else \
            market or self.market("BTC")
        asset = self.asset(step.options["on"]) if "on" in step.options else market.asset
        return order_id, place, market, asset, side or 1

    def do_reduce(self, step):
        order_id, place, market, asset, _ = self.of_target(step, step.words[1])
        self.send(step, 1, bodies.reduction(place, asset, order_id,
                                            market.size(step.options["by-size"]),
                                            market.size(step.options.get("expect", "0"))),
                  self.actor(step.words[0])["session"])

    def do_replace(self, step):
        order_id, place, market, asset, side = self.of_target(step, step.words[1])
        side = {"buy": 1, "sell": -1}[step.options["side"]] if "side" in step.options else side
        price = [word[1:] for word in step.words if word.startswith("@")][0]
        self.send(step, 2, bodies.replacement(
            place, asset, order_id, market.price(price), side * market.size(step.words[2]),
            self.expiry(step), self.flags(step), market.size(step.options.get("expect", "0"))),
            self.actor(step.words[0])["session"])

    def do_cancel(self, step, code=3):
        order_id, place, _, asset, _ = self.of_target(step, step.words[1])
        self.send(step, code, bodies.cancel(place, asset, order_id),
                  self.actor(step.words[0])["session"])

    def do_cancel_conditional(self, step):
        self.do_cancel(step, 7)

    def do_cancel_all(self, step):
        side = [bodies.SIDES[word] for word in step.words if word in bodies.SIDES]
        self.send(step, 4, bodies.cancel_all(self.place(step.words[0]), self.asset(step.words[1]),
                                             side[0] if side else 0,
                                             int("conditional" in step.words)),
                  self.actor(step.words[0])["session"])

    def batch_item(self, item, place):
        flags, expected = self.flags(item), 0
        if item.verb == "limit":
            market, asset, quantity, side, price = self.terms(item, item.words)
            order_id = self.new_id(item)
            self.named(item, order_id, place, market, side)
            return bodies.item(0, asset, flags, price, quantity, self.expiry(item), order_id, 0)
        order_id, _, market, asset, side = self.of_target(item, item.words[0])
        expected = market.size(item.options.get("expect", "0"))
        if item.verb == "reduce":
            by_size = market.size(item.options["by-size"])
            return bodies.item(1, asset, flags, 0, by_size, 0, order_id, expected)
        if item.verb == "replace":
            price = [word[1:] for word in item.words if word.startswith("@")][0]
            return bodies.item(2, asset, flags, market.price(price),
                               side * market.size(item.words[1]), self.expiry(item), order_id,
                               expected)
        return bodies.item(3, asset, flags, 0, 0, 0, order_id, expected)

    def do_batch(self, step):
        place = self.place(step.words[0])
        items = []
        for item in step.items:
            item.options.setdefault("in", step.words[0])
            items.append(self.batch_item(item, place))
            for option, value in item.options.items():
                if option.startswith("body["):
                    at, patch = int(option[5:-1]), bytes.fromhex(value)
                    items[-1] = items[-1][:at] + patch + items[-1][at + len(patch):]
        out = self.send(step, 8, bodies.batch(place, int("atomic" in step.words), items),
                        self.actor(step.words[0])["session"])
        want = [item.status for item in step.items]
        got = out["results"] + ["-"] * (len(want) - len(out["results"]))
        for item, expected, result in zip(step.items, want, got):
            if expected not in (result, "*"):
                raise Different(f"{item}: expected {expected}, got {result}")

    def do_schedule(self, step):
        self.send(step, 25, bodies.schedule(self.place(step.words[0]),
                                            self.time_of(step.words[1])),
                  self.actor(step.words[0])["session"])

    def do_mmp(self, step):
        market = self.markets.get(step.words[1]) or self.market("BTC")
        self.send(step, 26, bodies.mmp(
            self.place(step.words[0]), self.asset(step.words[1]),
            int(step.options.get("window", "0")), int(step.options.get("frozen", "0")),
            market.size(step.options.get("max", "0")), market.size(step.options.get("net", "0"))),
            self.actor(step.words[0])["session"])

    def do_mmp_reset(self, step):
        self.send(step, 27, bodies.mmp_reset(self.place(step.words[0]), self.asset(step.words[1])),
                  self.actor(step.words[0])["session"])

    def do_again(self, step):
        code, body, key, request_id = self.last
        out = self.side.request(code, body, key, request_id)
        self.check(step, out)

    # --- operator -----------------------------------------------------------------------------

    def do_oracle(self, step):
        name, price = step.words
        scale = self.markets.get(name) or self.market("BTC")
        self.publish_ns = max(self.publish_ns + 1, self.side.clock_ns)
        publish = self.time_of(step.options["publish"]) if "publish" in step.options else \
            self.publish_ns
        self.send(step, 1000, bodies.oracle(self.asset(name), scale.price(price), publish,
                                            int(step.options.get("sources", "3"))),
                  self.side.oracle_key)

    def do_accept(self, step):
        name, price = step.words
        scale = self.markets.get(name) or self.market("BTC")
        self.send(step, 1010, bodies.index_accept(self.asset(name), scale.price(price)),
                  self.side.operator)

    def do_confirm_clock(self, step):
        self.send(step, 1011, bodies.clock_confirm(gap_of(step.words[0])), self.side.operator)

    def do_start(self, step):
        """A start whose clock is so far ahead (+) or behind (-) of the last known time."""
        self.side.boot(gap_of(step.words[0]))

    def do_state(self, step):
        self.send(step, 1002, bodies.state(self.asset(step.words[0]), step.words[1],
                                           int("force" in step.words)), self.side.operator)

    def do_halt_all(self, step):
        self.send(step, 1008, bytes([bodies.STATES.index(step.words[0])]) + bytes(7),
                  self.side.operator)

    def do_define(self, step):
        """`define NAME member=value ...`: the record of a market with these members changed, or of
        a new one like `like=`."""
        name = step.words[0]
        like = step.options.pop("like", None)
        own = dict(self.market(like or name).own)
        if like:
            own.update(base=name, market=f"{name}-PERP")
        for member, value in step.options.items():
            if member in ("by", "id") or member.startswith("body["):
                continue
            own[member] = value if member in AMOUNTS else changed(own.get(member), value, self)
        market = Market(own)
        out = self.send(step, 1001, market.body(), self.side.operator)
        if out["status"] == "request_completed":
            self.markets[name] = market

    def do_suspend(self, step):
        account = self.place(step.words[0])[0]
        self.send(step, 1005, account.to_bytes(8, "little")
                  + bytes([["off", "on"].index(step.words[1])]) + bytes(7), self.side.operator)

    def do_top_up(self, step):
        self.send(step, 1006, usdc(step.words[0]).to_bytes(8, "little"), self.side.operator)

    def do_operator_cancel(self, step):
        order = step.options.get("order")
        order_id = self.target(order)[0] if order else bytes(16)
        self.send(step, 1007, bodies.operator_cancel(self.place(step.words[0]),
                                                     self.asset(step.words[1]), order_id),
                  self.side.operator)

    def do_tier(self, step):
        tier = 255 if step.words[1] == "volume" else int(step.words[1])
        self.send(step, 1009, self.place(step.words[0])[0].to_bytes(8, "little") + bytes([tier])
                  + bytes(7), self.side.operator)

    def do_raw(self, step):
        """`raw WHO CODE HEX`: any body at all; {master} is the public key of who's master key."""
        name, code, text = step.words
        text = text.replace("{master}", self.actor(name)["master"].public.hex())
        self.send(step, int(code), bytes.fromhex(text), self.actor(name)["session"])

    def do_fill_ids(self, step):
        """So many requests of an account that change nothing: each uses its id up."""
        place = self.place(step.words[0])
        for _ in range(int(step.words[1])):
            out = self.side.request(3, bodies.cancel(place, 1, self.side.new_id()),
                                    self.actor(step.words[0])["session"], self.side.new_id())
            if out["status"] != "rejected_order_not_found":
                raise Different(f"{step}: {out['status']}")

    def do_work(self, step):
        """`work off`: deferred work runs no further than a command's own share, until `work on`."""
        self.side.set_work(["off", "on"].index(step.words[0]))

    def do_wait(self, step):
        for _ in range(int(step.words[1]) if len(step.words) > 1 else 1):
            self.side.advance(nanoseconds(step.words[0]))


def gap_of(text):
    """"+24h", "-24h" as ns."""
    return (-1 if text[0] == "-" else 1) * nanoseconds(text[1:])


def changed(old, value, player):
    """A member of a market record from a script's word."""
    if value.startswith("+"):
        return player.time_of(value)
    if value.startswith(("{", "[")):
        return json.loads(value)
    if value == "null":
        return None
    return int(value) if isinstance(old, int) or (old is None and value.isdigit()) else value
