"""Generator of accounts, sessions, API keys and leverage."""
import keys
import wire
from wire import (ADD_ADMIN, ADD_ADMIN_PASSKEY, ADD_SCOPED, ADD_SCOPED_PASSKEY, CREATE_ACCOUNT,
                  CREATE_KEY, CREATE_SESSION, LEVERAGE, LOGIN, READ, READ_WRITE, REMOVE_ADMIN,
                  REMOVE_ADMIN_PASSKEY, REMOVE_SCOPED, REMOVE_SCOPED_PASSKEY, REVOKE_ALL,
                  REVOKE_KEY, REVOKE_SESSION)

SECOND = 1000000000


class AccessCommands:
    def make_signup(self, exchange):
        """More accounts, with a key that is taken or a session that is not allowed."""
        rng = self.random
        account = exchange.reclaim.likely_id()
        number = rng.choice((account, 1))
        expires = rng.choice((0, self.clock - 1))
        key = self.new_key()
        if number == account:
            self.fresh[account] = key
            self.sessions[account] = [key]
        return self.signed(CREATE_ACCOUNT, wire.ACCOUNT_BODY.pack(
            key, expires, b"late", rng.randrange(2), bytes(7)), keys.secp256k1_public(number))

    def make_session(self, exchange):
        """Sessions that end: by time, by revocation; pinned ones."""
        rng = self.random
        account = self.account()
        if rng.random() < 0.5:
            key = rng.choice(self.sessions[account][1:] or [self.new_key()])
            if key == self.fresh[account] and rng.random() < 0.95:
                key = self.new_key()
            body = wire.REVOKE_BODY.pack(account, key)
            return self.signed(REVOKE_SESSION, body, keys.secp256k1_public(account))
        key = self.new_key()
        self.sessions[account].append(key)
        expires = rng.choice((0, self.clock + rng.randrange(SECOND), self.clock - 5,
                              self.clock + 200 * 86400 * SECOND))
        body = wire.SESSION_BODY.pack(account, key, expires, rng.choice((-1, 0, 0, 1)),
                                      rng.choice((0, 1, 1, 2)), bytes(3))
        return self.signed(CREATE_SESSION, body, keys.secp256k1_public(account))

    def some_master(self, exchange, account):
        """A master key of the account: mostly a live one, often that which made it."""
        rng = self.random
        own = [key for key, master in exchange.credentials.masters.items()
               if master.account == account]
        if not own or rng.random() < 0.1:
            return keys.secp256k1_public(account + rng.choice((0, 0, 1000, 2000)))
        return rng.choice(own)

    def make_master_key(self, exchange):
        """Keys come and go, brought by all kinds of keys; sessions are made by them."""
        rng = self.random
        account = self.account()
        signer = self.some_master(exchange, account)
        if rng.random() < 0.1:
            signer = rng.choice((self.fresh[account], keys.secp256k1_public(self.account())))
        draw = rng.random()
        if draw < 0.3:
            key = self.new_key()
            body = wire.SESSION_BODY.pack(account, key, 0, rng.choice((-1, 0, 1)),
                                          rng.randrange(2), bytes(3))
            return self.signed(CREATE_SESSION, body, signer)
        if draw < 0.35:
            return self.signed(REVOKE_ALL, account.to_bytes(8, "little"), signer)
        pad = rng.choice((0, 0, 0, 0, 0, 0, 0, 1))
        if draw < 0.6:
            key = self.some_master(exchange, account if rng.random() < 0.9 else self.account())
            passkey = keys.is_passkey(key) != (rng.random() < 0.1)
            code = rng.choice((REMOVE_ADMIN, REMOVE_SCOPED) if not passkey
                              else (REMOVE_ADMIN_PASSKEY, REMOVE_SCOPED_PASSKEY))
            return self.signed(code, wire.KEY_BODY.pack(account, key, bytes(6) + bytes([pad])),
                               signer)
        return self.bring_key(account, signer, pad)

    def bring_key(self, account, signer, pad):
        rng = self.random
        number = rng.choice((1000, 2000, 3000, 4000)) + account
        key = keys.secp256k1_public(number if rng.random() < 0.9 else self.account())
        passkey = keys.is_passkey(key) != (rng.random() < 0.1)
        pin, scope = rng.choice((-1, -1, 0, 1, 60)), rng.choice((0, 0, 1, 1, 1, 2))
        name = keys.credential_id(key if rng.random() < 0.9 else keys.secp256k1_public(account))
        if not passkey and rng.random() < 0.5:
            return self.signed(ADD_ADMIN, wire.KEY_BODY.pack(account, key, bytes(6) + bytes([pad])),
                               signer)
        if not passkey:
            body = wire.SCOPED_BODY.pack(account, pin, scope, bytes([pad, 0, 0]), key, bytes(7))
            return self.signed(ADD_SCOPED, body, signer)
        admin = rng.random() < 0.5
        head = (wire.ADMIN_PASSKEY_HEAD.pack(account, key, pad, len(name)) if admin else
                wire.SCOPED_PASSKEY_HEAD.pack(account, pin, scope, bytes(3), key, pad, len(name)))
        body = head + name
        return self.signed(ADD_ADMIN_PASSKEY if admin else ADD_SCOPED_PASSKEY,
                           body + bytes(-len(body) % 8), signer)

    def make_revoke_all(self, exchange):
        """Every session of an account, which then makes a new one."""
        account, key = self.account(), self.new_key()
        self.fresh[account] = key
        self.sessions[account].append(key)
        master = keys.secp256k1_public(account)
        self.pending.append(self.signed(CREATE_SESSION, wire.SESSION_BODY.pack(
            account, key, 0, -1, self.random.randrange(2), bytes(3)), master))
        return self.signed(REVOKE_ALL, account.to_bytes(8, "little"), master)

    def key_signer(self, account):
        """Who may manage API keys, and who may not."""
        rng = self.random
        return (keys.secp256k1_public(account) if rng.random() < 0.6
                else rng.choice(self.sessions[account]))

    def api_key(self, account, scope, pin=-1, label=b"key", pad=bytes(3), signer=None):
        digest = self.random.randbytes(32)
        body = wire.CREATE_KEY_BODY.pack(account, pin, scope, pad, label)
        return self.signed(CREATE_KEY, body, signer or keys.secp256k1_public(account),
                           extra=digest)

    def some_key(self, exchange):
        """(account, id) of an API key: mostly a live one."""
        rng = self.random
        owned = exchange.credentials.api_keys
        for _ in range(3):
            key_id = rng.choice(list(owned))
            if not owned[key_id].revoked:
                break
        return owned[key_id].account, key_id

    def make_device_key(self, exchange):
        """A login, or a logout of a session that presents a device key."""
        rng, account = self.random, self.account()
        devices = [key for keys in exchange.credentials.device_keys.values() for key in keys]
        if rng.random() < 0.6 or not devices:
            expires = rng.choice((0, 0, 0, self.clock - 5, self.clock + 200 * 86400 * SECOND))
            body = wire.LOGIN_BODY.pack(account, expires, rng.choice((-1, -1, 0, 1)),
                                        rng.choice((bytes(4),) * 4 + (b"\0\0\0\1",)))
            return self.signed(LOGIN, body, self.key_signer(account), extra=rng.randbytes(32))
        device = rng.choice(devices)
        if rng.random() < 0.8:
            account = device.account
        signer = rng.choice(self.sessions[account][1:] or [self.new_key()])
        named = signer if rng.random() < 0.7 else rng.choice(self.sessions[account])
        return self.signed(REVOKE_SESSION, wire.REVOKE_BODY.pack(account, named), signer,
                           extra=device.hash)

    def make_api_key(self, exchange):
        rng = self.random
        if rng.random() < 0.55 or not exchange.credentials.api_keys:
            account = self.account()
            return self.api_key(
                account, rng.choice((READ, READ_WRITE, READ_WRITE, 2)),
                rng.choice((-1, -1, 0, 0, 1)),
                rng.choice((b"", b"name", b"\xc3\xa9", b"a\x07", b"\xc2\x85")),
                rng.choice((bytes(3), bytes(3), bytes(3), b"\0\0\1")), self.key_signer(account))
        account, key_id = self.some_key(exchange)
        devices = [key for keys in exchange.credentials.device_keys.values() for key in keys]
        if devices and rng.random() < 0.3:
            device = rng.choice(devices)
            account, key_id = device.account, device.id
        if rng.random() < 0.15:
            account = self.account()
        if rng.random() < 0.1:
            key_id = wire.uuid7(self.clock // 10**6, 3)
        return self.signed(REVOKE_KEY, wire.REVOKE_KEY_BODY.pack(account, key_id),
                           self.key_signer(account))

    def leverage(self, fields):
        return (0, LEVERAGE, wire.LEVERAGE_BODY.pack(*fields), b"", self.clock, b"")

    def leverage_fields(self, exchange):
        account, key_id = self.some_key(exchange)
        asset = 1 + self.random.choice(self.regime["records"])
        most = exchange.markets[asset].max_leverage
        wanted = self.random.choice((1, 2, 3, 5, 10, 15, 20, 25, 50, most))
        subaccount = int(self.random.random() < 0.08)  # 1: nobody has it, a pinned key is elsewhere
        return [key_id, account, subaccount, 0, min(most, wanted), asset, 0]

    def make_leverage(self, exchange):
        if not exchange.credentials.api_keys:
            return self.make_place(exchange)
        return self.leverage(self.leverage_fields(exchange))
