"""Sessions and API keys (rules.md R10, R11 codes 11 to 15, 34 and 35)."""
from keys import duplicate_account
from wire import (CREATE_ACCOUNT, CREATE_KEY, CREATE_KEY_BODY, CREATE_SESSION, FULL_ACCESS, ORACLE,
                  READ_WRITE, REASON, REVOKE_ALL, REVOKE_BODY, REVOKE_KEY, REVOKE_KEY_BODY,
                  REVOKE_SESSION, SESSION_BODY, STATUS, uuid7_of)

S = STATUS
SECOND = 1000000000
OF_MASTERS = (CREATE_SESSION, REVOKE_SESSION, REVOKE_ALL)
OF_FULL_ACCESS = (CREATE_KEY, REVOKE_KEY)  # sessions of that scope, and masters
NO_PIN = -1
KIND_SESSION, KIND_API_KEY = 0, 1
ADDED, REMOVED = 0, 1


class Session:
    __slots__ = ("account", "key", "expires_at", "pin", "scope", "revoked")

    def live(self, t):
        return not self.revoked and self.expires_at > t


class ApiKey:
    __slots__ = ("account", "pin", "scope", "revoked", "hash")


class Credentials:
    def __init__(self, exchange):
        self.exchange = exchange
        self.masters = {}   # public key -> account
        self.sessions = {}  # (account, public key) -> Session
        self.of_account = {}  # account -> its sessions, oldest first
        self.api_keys = {}  # api_key_id -> ApiKey
        self.key_counts = {}  # account -> live API keys

    def check(self, code, body, key, t):
        """(account of the duplicate set or None, whether row 3 refuses)."""
        exchange = self.exchange
        if code == CREATE_ACCOUNT:
            return duplicate_account(key), False
        if code >= 1000:
            if key in (exchange.oracle_keys if code == ORACLE else exchange.operator_keys):
                return duplicate_account(key), False
            return None, True
        account = int.from_bytes(body[:8], "little")
        self.pin = NO_PIN
        master = self.masters.get(key) == account
        if master or code in OF_MASTERS:
            known = master or self.live(account, key)
            return (account if known else None), not (
                master and code in OF_MASTERS + OF_FULL_ACCESS)
        session = self.live(account, key)
        if not session:
            return None, True
        self.pin = session.pin
        if code in OF_FULL_ACCESS:
            return account, session.scope != FULL_ACCESS
        return account, 0 <= session.pin != int.from_bytes(body[8:12], "little")

    def live(self, account, key):
        session = self.sessions.get((account, key))
        return session if session and session.live(self.exchange.t_now) else None

    def tell(self, digest, account, pin, kind, action, scope):
        self.exchange.emit(2118, digest, account, pin, kind, action, scope)

    # ---- sessions

    def session_times(self, expires_at):
        """The stored expiry, or None when it is not allowed."""
        t, limits = self.exchange.t, self.exchange.limits
        if expires_at == 0:
            return t + limits["limits.session_life_default_s"] * SECOND
        longest = t + limits["limits.session_life_max_s"] * SECOND
        return expires_at if t < expires_at <= longest else None

    def add_session(self, account, key, expires_at, pin, scope):
        session = Session()
        session.account, session.key, session.revoked = account, key, False
        session.expires_at, session.pin, session.scope = expires_at, pin, scope
        self.sessions[account, key] = session
        self.of_account.setdefault(account, []).append(session)
        self.tell(key, account, pin, KIND_SESSION, ADDED, scope)

    def create_account(self, body, key):
        exchange = self.exchange
        if key in self.masters:
            return S["creation_rejected"]
        exchange.accounts += 1
        account = self.masters[key] = exchange.accounts
        exchange.create_portfolio(account)
        expires_at = self.session_times(int.from_bytes(body[32:40], "little"))
        if expires_at is None or body[72] > 1:
            return S["account_created_session_failed"]
        self.add_session(account, body[:32], expires_at, NO_PIN, body[72])
        return S["account_created_with_session"]

    def live_sessions(self, account):
        t = self.exchange.t
        kept = [session for session in self.of_account.get(account, ()) if session.live(t)]
        self.of_account[account] = kept
        return kept

    def create_session(self, body):
        account, key, expires_at, pin, scope, pad = SESSION_BODY.unpack(body)
        expires_at = self.session_times(expires_at)
        if (any(pad) or scope > 1 or expires_at is None or (account, key) in self.sessions
                or pin > 0):
            return S["session_rejected"]
        if (len(self.live_sessions(account))
                >= self.exchange.limits["limits.sessions_per_parent"]):
            self.exchange.reason = REASON["max_sessions_exceeded"]
            return S["session_rejected_max_sessions"]
        self.add_session(account, key, expires_at, pin, scope)
        return S["session_created"]

    def revoke(self, session):
        session.revoked = True
        self.tell(session.key, session.account, session.pin, KIND_SESSION, REMOVED,
                  session.scope)

    def revoke_session(self, body):
        session = self.live(*REVOKE_BODY.unpack(body))
        if not session:
            return S["session_rejected"]
        self.revoke(session)
        return S["session_revoked"]

    def revoke_all(self, body):
        sessions = self.live_sessions(int.from_bytes(body, "little"))
        for session in reversed(sessions):
            self.revoke(session)
        self.exchange.counts["all of several sessions revoked"] += len(sessions) > 1
        return S["session_revoked"]

    # ---- API keys

    def create_key(self, body, digest):
        """Code 34; `digest` is the keyed hash of the secret, which is all that is stored."""
        exchange = self.exchange
        account, pin, scope, pad, label = CREATE_KEY_BODY.unpack(body)
        text = label.rstrip(b"\0").decode()
        if (any(pad) or scope > READ_WRITE
                or any(ord(sign) < 32 or 127 <= ord(sign) < 160 for sign in text)
                or self.pin != NO_PIN and pin != self.pin or pin > 0):
            return S["order_rejected_invalid"]
        if self.key_counts.get(account, 0) >= exchange.limits["limits.api_keys"]:
            exchange.reason = REASON["limit_reached"]
            return S["order_rejected_invalid"]
        key = ApiKey()
        key.account, key.pin, key.scope, key.revoked, key.hash = account, pin, scope, False, digest
        self.key_counts[account] = self.key_counts.get(account, 0) + 1
        self.api_keys[uuid7_of(exchange.t, exchange.sequence, 0)] = key
        self.tell(digest, account, pin, KIND_API_KEY, ADDED, scope)
        return 0

    def revoke_key(self, body):
        account, key_id = REVOKE_KEY_BODY.unpack(body)
        key = self.api_keys.get(key_id)
        if key is None or key.revoked or key.account != account:
            return S["order_rejected_invalid"]
        if self.pin not in (NO_PIN, key.pin):
            return S["rejected_unauthorized"]
        key.revoked = True
        self.key_counts[account] -= 1
        self.tell(key.hash, account, key.pin, KIND_API_KEY, REMOVED, key.scope)
        return 0
