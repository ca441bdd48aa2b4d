"""Sessions, API and device keys (rules.md R10, R11 codes 11 to 15 and 33 to 35)."""
import hierarchy
from hierarchy import has_control
from keys import duplicate_account
from wire import (BATCH, CLOSE_ACCOUNT, CLOSE_SUBACCOUNT, CREATE_ACCOUNT, CREATE_KEY,
                  CREATE_KEY_BODY, CREATE_PASSKEY_ACCOUNT, CREATE_PORTFOLIO, CREATE_SESSION,
                  CREATE_SUBACCOUNT, FULL_ACCESS, LOGIN, LOGIN_BODY, READ_WRITE, REASON, RESET_MMP,
                  REVOKE_ALL,
                  REVOKE_BODY, REVOKE_KEY, REVOKE_KEY_BODY, REVOKE_SESSION, SCHEDULE_CANCEL,
                  SESSION_BODY, SET_MMP, STATUS, TRANSFER, WITHDRAW, uuid7_of)

S = STATUS
SECOND = 1000000000
OF_MASTERS = (CREATE_SESSION, REVOKE_SESSION, REVOKE_ALL)
OF_SESSIONS = (*OF_MASTERS, LOGIN)  # row 3 answers session_rejected
STRUCTURE = (CREATE_SUBACCOUNT, CLOSE_SUBACCOUNT, CLOSE_ACCOUNT)  # of masters alone
# Sessions of that scope, and masters.
OF_FULL_ACCESS = (LOGIN, CREATE_KEY, REVOKE_KEY, TRANSFER, WITHDRAW, CREATE_PORTFOLIO)
TRADING = (*range(BATCH + 1), SCHEDULE_CANCEL, SET_MMP, RESET_MMP)
# Row 4 lets them pass, for users; codes from 1000 on have no account.
SIGNUPS = (CREATE_ACCOUNT, CREATE_PASSKEY_ACCOUNT)
SUSPENSION_EXEMPT = (1, 3, 4, 7, SCHEDULE_CANCEL, *OF_MASTERS, LOGIN, REVOKE_KEY,
                     *SIGNUPS)
NO_PIN = -1
KIND_SESSION, KIND_API_KEY, KIND_DEVICE_KEY, KIND_MASTER_KEY = 0, 1, 2, 3
ADDED, REMOVED = 0, 1


class Session:
    __slots__ = ("account", "key", "expires_at", "pin", "scope", "revoked", "made")

    def live(self, t):
        return not self.revoked and self.expires_at > t


class ApiKey:
    __slots__ = ("account", "pin", "scope", "revoked", "hash", "made")


class DeviceKey:
    __slots__ = ("account", "pin", "scope", "revoked", "hash", "made", "expires_at", "id")

    def live(self, t):
        return not self.revoked and self.expires_at > t


class Credentials:
    def __init__(self, exchange):
        self.exchange = exchange
        self.masters = {}   # public key -> account
        self.sessions = {}  # (account, public key) -> Session
        self.of_account = {}  # account -> its sessions, oldest first
        self.api_keys = {}  # api_key_id -> ApiKey
        self.key_counts = {}  # account -> live API keys
        self.device_keys = {}  # account -> its device keys, oldest first

    def check(self, code, body, key, t):
        """(account of the duplicate set or None, whether row 3 refuses)."""
        exchange = self.exchange
        if code in SIGNUPS:
            return duplicate_account(key), False
        if code >= 1000:
            if key in exchange.keys_of(code):
                return duplicate_account(key), False
            return None, True
        account = int.from_bytes(body[:8], "little")
        self.pin, self.logout_by = NO_PIN, None
        if account in exchange.hierarchy.accounts and exchange.hierarchy.accounts[account].closed:
            return None, True
        if self.masters.get(key) == account:
            return account, code in TRADING
        session = self.live(account, key)
        if not session:
            return None, True
        self.logout_by = session if code == REVOKE_SESSION else None
        if code in OF_MASTERS + STRUCTURE and not self.logout_by:
            return account, True
        self.pin = session.pin
        if code in OF_FULL_ACCESS and session.scope != FULL_ACCESS:
            return account, True
        return account, session.pin != NO_PIN and not self.reached(code, body, account)

    def reached(self, code, body, account):
        """Whether what the body names is within the subaccount of a pinned session."""
        if code in (LOGIN, CREATE_KEY, REVOKE_KEY, REVOKE_SESSION):  # they judge it themselves
            return True
        named = [int.from_bytes(body[8:12], "little")]
        if code == TRANSFER and int.from_bytes(body[16:24], "little") == account:
            named.append(int.from_bytes(body[24:28], "little"))
        return all(index == self.pin for index in named)

    def suspended(self, code, account):
        """Row 4."""
        known = self.exchange.hierarchy.accounts.get(account)
        return known and known.suspended and code not in SUSPENSION_EXEMPT

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
        session.made = self.exchange.sequence
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
        exchange.hierarchy.new_account(account)
        exchange.hierarchy.tell((account, 0, 0), 0, hierarchy.ACCOUNT)
        self.tell(key[1:], account, NO_PIN, KIND_MASTER_KEY, ADDED, FULL_ACCESS)
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
                or pin >= 0 and self.exchange.hierarchy.subaccount(account, pin) is None):
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

    def revoke_session(self, body, device=b""):
        """Code 14; on /logout a session ends itself alone, and `device` is the hash of the device
        key that it presents."""
        session = self.live(*REVOKE_BODY.unpack(body))
        known = session and self.logout_by in (None, session)
        if known:
            self.revoke(session)
        account = int.from_bytes(body[:8], "little")
        for key in self.live_devices(account) if device else ():
            if key.hash == device:
                self.end_device(key)
        return S["session_revoked" if known else "session_rejected"]

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
        if (any(pad) or scope > READ_WRITE or has_control(label)
                or self.pin != NO_PIN and pin != self.pin
                or pin >= len(exchange.hierarchy.accounts[account].subaccounts)):
            return S["order_rejected_invalid"]
        if self.key_counts.get(account, 0) >= exchange.limits["limits.api_keys"]:
            exchange.reason = REASON["limit_reached"]
            return S["order_rejected_invalid"]
        key = ApiKey()
        key.made = exchange.sequence
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
        self.end_key(key)
        return 0

    # ---- device keys

    def live_devices(self, account):
        return [key for key in self.device_keys.get(account, ()) if key.live(self.exchange.t)]

    def login(self, body, digest):
        """Code 33."""
        exchange = self.exchange
        account, expires_at, pin, pad = LOGIN_BODY.unpack(body)
        expires_at = self.session_times(expires_at)
        if (any(pad) or expires_at is None or self.pin != NO_PIN and pin != self.pin
                or pin >= len(exchange.hierarchy.accounts[account].subaccounts)
                or len(self.live_devices(account)) >= exchange.limits["limits.device_keys"]):
            return S["session_rejected"]
        key = DeviceKey()
        key.made, key.id = exchange.sequence, uuid7_of(exchange.t, exchange.sequence, 0)
        key.account, key.pin, key.revoked, key.hash = account, pin, False, digest
        key.expires_at, key.scope = expires_at, READ_WRITE
        self.device_keys.setdefault(account, []).append(key)
        self.tell(digest, account, pin, KIND_DEVICE_KEY, ADDED, READ_WRITE)
        return 0

    def of_plain_write(self, key_id, takes_device):
        """The API key, or the live device key, of a plain write."""
        devices = [key for keys in self.device_keys.values() for key in keys
                   if takes_device and key.id == key_id and key.live(self.exchange.t)]
        return devices[0] if devices else self.api_keys.get(key_id)

    def end_device(self, key):
        key.revoked = True
        self.tell(key.hash, key.account, key.pin, KIND_DEVICE_KEY, REMOVED, READ_WRITE)

    # ---- the end of an account

    def end_all(self, account):
        """Code 32 revokes sessions, API and device keys, newest first."""
        ending = [(session.made, self.revoke, session) for session in self.live_sessions(account)]
        ending += [(key.made, self.end_key, key) for key in self.api_keys.values()
                   if key.account == account and not key.revoked]
        ending += [(key.made, self.end_device, key) for key in self.live_devices(account)]
        for _, end, credential in sorted(ending, key=lambda one: one[0], reverse=True):
            end(credential)

    def end_key(self, key):
        key.revoked = True
        self.key_counts[key.account] -= 1
        self.tell(key.hash, key.account, key.pin, KIND_API_KEY, REMOVED, key.scope)
