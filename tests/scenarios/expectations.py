"""What a script's `expect` lines look at: what can be read, beside what is wanted."""
from markets import Wrong, usdc, usdc_text


class Different(Exception):
    """What the exchange did is not what the line says."""


class Expectations:
    """A player's `see_*`: each gives what is there and what the line wants."""

    def do_expect(self, step):
        what, *words = step.words
        method = getattr(self, "see_" + what.replace("-", "_"), None)
        if method is None:
            raise Wrong(f"{step}: nothing to expect of {what}")
        got, want = self.side.settled(lambda: method(words, step.options)) \
            if hasattr(self.side, "settled") else method(words, step.options)
        if got != want:
            raise Different(f"{step} {what}: expected {want}, got {got}")

    def amount_of(self, words, member):
        balance = self.side.balance(self.actor(words[0]), self.place(words[0]))
        return usdc_text(balance[member]) if balance else None, usdc_text(usdc(words[1]))

    def see_equity(self, words, _):
        return self.amount_of(words, "equity")

    def see_initial(self, words, _):
        return self.amount_of(words, "initial")

    def see_maintenance(self, words, _):
        return self.amount_of(words, "maintenance")

    def see_withdrawable(self, words, _):
        return self.amount_of(words, "withdrawable")

    def see_now(self, words, _):
        """withdrawable_now of R10."""
        return self.amount_of(words, "now")

    def see_free(self, words, _):
        return self.amount_of(words, "free")

    def see_status(self, words, _):
        balance = self.side.balance(self.actor(words[0]), self.place(words[0]))
        return balance["status"] if balance else None, words[1]

    def rows_of(self, words):
        place = self.place(words[0])
        return [row for row in self.side.positions(self.actor(words[0]), place[0])
                if row["place"] == place]

    def see_cash(self, words, _):
        """Cash is equity less what the positions have not realised."""
        balance = self.side.balance(self.actor(words[0]), self.place(words[0]))
        cash = balance["equity"] - sum(row["pnl"] for row in self.rows_of(words))
        return usdc_text(cash), usdc_text(usdc(words[1]))

    def see_position(self, words, options):
        market = self.market(words[1])
        rows = [row for row in self.rows_of(words) if row["market"] == market.symbol]
        row = rows[0] if rows else {"size": 0, "cost": 0, "pnl": 0, "net_funding": 0,
                                    "liquidation": 0, "leverage": 0}
        got, want = [market.size_text(row["size"])], [market.size_text(market.size(words[2]))]
        for name in ("cost", "pnl", "net_funding"):
            if name in options:
                got.append(f"{name}={usdc_text(row[name])}")
                want.append(f"{name}={usdc_text(usdc(options[name]))}")
        if "liquidation" in options:
            price = options["liquidation"]
            got.append(market.price_text(row["liquidation"]) if row["liquidation"] else "none")
            want.append(price if price == "none" else market.price_text(market.price(price)))
        if "leverage" in options:
            got.append(row["leverage"])
            want.append(int(options["leverage"]))
        return got, want

    def see_order(self, words, options):
        order_id, place, market, _ = self.target(words[0])
        row = self.side.order(self.order_owner(place), order_id)
        got, want = [row[0] if row else "none"], [words[1]]
        for name, at in (("remaining", 1), ("filled", 2)):
            if name in options:
                got.append(f"{name}={market.size_text(row[at])}" if row else None)
                want.append(f"{name}={market.size_text(market.size(options[name]))}")
        if "reason" in options:
            got.append(row[3] if row else None)
            want.append(options["reason"])
        return got, want

    def order_owner(self, place):
        return next((actor for actor in self.actors.values()
                     if place and actor["account"] == place[0]), None)

    def see_open(self, words, _):
        return (self.side.open_orders(self.actor(words[0]), self.place(words[0])),
                int(words[1]))

    def see_book(self, words, _):
        """`expect book BTC ask 100010 1`: a level's size; `expect book BTC` bids/asks `empty`."""
        market = self.market(words[0])
        bids, asks = self.side.book(market)
        levels = bids if words[1] in ("bid", "bids") else asks
        if words[2] == "empty":
            return len(levels), 0
        size = dict(levels).get(market.price(words[2]), 0)
        return market.size_text(size), market.size_text(market.size(words[3]))

    def see_best(self, words, _):
        market = self.market(words[0])
        got = [market.price_text(levels[0][0]) if levels else "-"
               for levels in self.side.book(market)]
        return got, [word if word == "-" else market.price_text(market.price(word))
                     for word in words[1:3]]

    def see_mark(self, words, _):
        market = self.market(words[0])
        mark, _, valid = self.side.mark(market)
        got, want = [market.price_text(mark)], [market.price_text(market.price(words[1]))]
        if len(words) > 2:
            got.append("valid" if valid else "invalid")
            want.append(words[2])
        return got, want

    def see_market_state(self, words, _):
        return self.side.market_state(self.market(words[0])), words[1]

    def see_tier(self, words, _):
        return self.side.tier(self.actor(words[0]), self.place(words[0])[0]), int(words[1])

    def see_fund(self, words, _):
        return usdc_text(self.side.fund()), usdc_text(usdc(words[0]))

    def see_fee_account(self, words, _):
        return usdc_text(self.side.audit()["fee_account"]), usdc_text(usdc(words[0]))

    def see_audit(self, _words, _options):
        return self.side.audit()["holds"], True
