"""Master keys, sessions, API and device keys (rules.md R10; R11, 11 to 17, 19, 20, 28 to 35)."""
import hierarchy
from hierarchy import has_control
from keys import credential_id, duplicate_account, is_passkey, is_point
from wire import (ADD_ADMIN, ADD_ADMIN_PASSKEY, ADD_SCOPED, ADD_SCOPED_PASSKEY, ADMIN_PASSKEY_HEAD,
                  BATCH, CLOSE_ACCOUNT, CLOSE_SUBACCOUNT, CREATE_ACCOUNT, CREATE_KEY,
                  CREATE_KEY_BODY, CREATE_PASSKEY_ACCOUNT, CREATE_PORTFOLIO, CREATE_SESSION,
                  CREATE_SUBACCOUNT, FULL_ACCESS, KEY_BODY, KEY_CODES, LOGIN, LOGIN_BODY,
                  READ_WRITE, REASON, REMOVE_ADMIN, REMOVE_ADMIN_PASSKEY, REMOVE_SCOPED,
                  REMOVE_SCOPED_PASSKEY, RESET_MMP, REVOKE_ALL, REVOKE_BODY, REVOKE_KEY,
                  REVOKE_KEY_BODY, REVOKE_SESSION, SCHEDULE_CANCEL, SCOPED_BODY,
                  SCOPED_PASSKEY_HEAD, SESSION_BODY, SET_MMP, STATUS, TRANSFER, WITHDRAW,
                  uuid7_of)

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
SUSPENSION_EXEMPT = (1, 3, 4, 7, SCHEDULE_CANCEL, *OF_MASTERS, *KEY_CODES, LOGIN, REVOKE_KEY,
                     *SIGNUPS)
NO_PIN = -1
KIND_SESSION, KIND_API_KEY, KIND_DEVICE_KEY, KIND_MASTER_KEY = 0, 1, 2, 3
ADDED, REMOVED = 0, 1


# code -> (admin, of a passkey)
ADDING = {ADD_ADMIN: (True, False), ADD_ADMIN_PASSKEY: (True, True),
          ADD_SCOPED: (False, False), ADD_SCOPED_PASSKEY: (False, True)}
REMOVING = {REMOVE_ADMIN: (True, False), REMOVE_ADMIN_PASSKEY: (True, True),
            REMOVE_SCOPED: (False, False), REMOVE_SCOPED_PASSKEY: (False, True)}


def refusal(code):
    """The status of row 3."""
    if code in KEY_CODES:
        return "master_key_rejected_unauthorized"
    return "session_rejected" if code in OF_SESSIONS else "rejected_unauthorized"


class Master:
    __slots__ = ("account", "key", "admin", "passkey", "pin", "scope", "row")


class Session:
    __slots__ = ("account", "key", "expires_at", "pin", "scope", "revoked", "made", "parent", "row")

    def live(self, t):
        return not self.revoked and self.expires_at > t


class ApiKey:
    __slots__ = ("account", "pin", "scope", "revoked", "hash", "made", "row")


class DeviceKey:
    __slots__ = ("account", "pin", "scope", "revoked", "hash", "made", "expires_at", "id",
                 "row")

    def live(self, t):
        return not self.revoked and self.expires_at > t


class Credentials:
    def __init__(self, exchange):
        self.exchange = exchange
        self.masters = {}   # public key -> Master, live
        self.passkey_ids = set()  # of live passkeys
        self.names = {}     # key -> credential id of a live passkey
        self.signer = None  # the master key that signed, None: a session did
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
        self.signer = self.masters.get(key)
        if self.signer and (self.signer.account, self.signer.passkey) == (account,
                                                                          is_passkey(key)):
            return account, not self.master_may(code, body, account)
        self.signer = None
        session = self.live(account, key)
        if not session:
            return None, True
        self.logout_by = session if code == REVOKE_SESSION else None
        if code in OF_MASTERS + STRUCTURE + KEY_CODES and not self.logout_by:
            return account, True
        self.pin = session.pin
        if code in OF_FULL_ACCESS and session.scope != FULL_ACCESS:
            return account, True
        return account, session.pin != NO_PIN and not self.reached(code, body, account)

    def master_may(self, code, body, account):
        """Kind, scope and reach of the master key that signs."""
        master = self.signer
        self.pin = master.pin
        if code in TRADING or code in (*KEY_CODES, CLOSE_ACCOUNT) and not master.admin:
            return False
        if code in OF_FULL_ACCESS + STRUCTURE and master.scope != FULL_ACCESS:
            return False
        if master.pin == NO_PIN or code in OF_MASTERS:
            return True
        return code != CREATE_SUBACCOUNT and self.reached(code, body, account)

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

    def add_session(self, account, key, expires_at, pin, scope, parent):
        session = Session()
        session.parent = parent
        session.account, session.key, session.revoked = account, key, False
        session.made = self.exchange.sequence
        session.expires_at, session.pin, session.scope = expires_at, pin, scope
        self.sessions[account, key] = session
        self.of_account.setdefault(account, []).append(session)
        self.exchange.shares.made(session, expires_at=expires_at)
        self.tell(key, account, pin, KIND_SESSION, ADDED, scope)

    def create_account(self, body, key):
        exchange = self.exchange
        if key in self.masters or is_passkey(key) and credential_id(key) in self.passkey_ids:
            return S["creation_rejected"]
        if not exchange.shares.fits_new() and not exchange.reclaim.make_room():
            exchange.counts["no room for an account"] += 1
            return S["creation_rejected"]
        exchange.accounts = account = exchange.reclaim.take_id()
        exchange.hierarchy.new_account(account)
        exchange.hierarchy.tell((account, 0, 0), 0, hierarchy.ACCOUNT)
        master = self.add_master(account, key, True, is_passkey(key), NO_PIN, FULL_ACCESS,
                                 credential_id(key))
        expires_at = self.session_times(int.from_bytes(body[32:40], "little"))
        if expires_at is None or body[72] > 1:
            return S["account_created_session_failed"]
        self.add_session(account, body[:32], expires_at, NO_PIN, body[72], master)
        return S["account_created_with_session"]

    def live_sessions(self, account):
        t = self.exchange.t
        kept = [session for session in self.of_account.get(account, ()) if session.live(t)]
        self.of_account[account] = kept
        return kept

    def create_session(self, body):
        account, key, expires_at, pin, scope, pad = SESSION_BODY.unpack(body)
        expires_at, parent = self.session_times(expires_at), self.signer
        if (any(pad) or scope > 1 or expires_at is None or (account, key) in self.sessions
                or scope < parent.scope or parent.pin not in (NO_PIN, pin)
                or pin >= 0 and self.exchange.hierarchy.subaccount(account, pin) is None):
            return S["session_rejected"]
        live, limits = self.live_sessions(account), self.exchange.limits
        if (len(live) >= limits["limits.sessions"]
                or sum(session.parent is parent for session in live)
                >= limits["limits.sessions_per_parent"]
                or not self.exchange.shares.fits(account, "credentials")):
            self.exchange.reason = REASON["max_sessions_exceeded"]
            return S["session_rejected_max_sessions"]
        self.add_session(account, key, expires_at, pin, scope, parent)
        return S["session_created"]

    def revoke(self, session):
        session.revoked = True
        self.exchange.shares.ended(session)
        self.tell(session.key, session.account, session.pin, KIND_SESSION, REMOVED,
                  session.scope)

    def revoke_session(self, body, device=b""):
        """Code 14; on /logout a session ends itself alone, and `device` is the hash of the device
        key that it presents."""
        session = self.live(*REVOKE_BODY.unpack(body))
        known = session and self.is_known(session)
        if known:
            self.revoke(session)
        account = int.from_bytes(body[:8], "little")
        for key in self.live_devices(account) if device else ():
            if key.hash == device:
                self.end_device(key)
        return S["session_revoked" if known else "session_rejected"]

    def revoke_all(self, body):
        sessions = [session for session in self.live_sessions(int.from_bytes(body, "little"))
                    if self.is_known(session)]
        for session in reversed(sessions):
            self.revoke(session)
        self.exchange.counts["all of several sessions revoked"] += len(sessions) > 1
        return S["session_revoked"]

    def is_known(self, session):
        """A session knows itself, a scoped key the sessions that it made."""
        if self.logout_by:
            return session is self.logout_by
        return self.signer.admin or session.parent is self.signer

    # ---- master keys

    def add_master(self, account, key, admin, passkey, pin, scope, name):
        master = Master()
        master.account, master.key, master.admin, master.passkey = account, key, admin, passkey
        master.pin, master.scope = pin, scope
        self.masters[key] = master
        self.exchange.shares.made(master, is_master=True)
        if passkey:
            self.passkey_ids.add(name)
            self.names[key] = name
        self.tell(key[1:], account, pin, KIND_MASTER_KEY, ADDED, scope)
        return master

    def count_masters(self, account, admin):
        return sum((master.account, master.admin) == (account, admin)
                   for master in self.masters.values())

    def change_keys(self, code, body):
        return self.remove_master(code, body) if code in REMOVING else self.bring_master(code, body)

    def bring_master(self, code, body):
        """Codes 16, 19, 28, 30."""
        exchange, (admin, passkey) = self.exchange, ADDING[code]
        pin, scope, pads, name = NO_PIN, FULL_ACCESS, b"", b""
        if code == ADD_ADMIN:
            account, key, pads = KEY_BODY.unpack(body)
        elif code == ADD_SCOPED:
            account, pin, scope, pad, key, pads = SCOPED_BODY.unpack(body)
            pads += pad
        else:
            head = ADMIN_PASSKEY_HEAD if admin else SCOPED_PASSKEY_HEAD
            account, *middle, key, pad, length = head.unpack(body[:head.size])
            name = body[head.size:head.size + length]
            pads = bytes([pad]) + body[head.size + length:]
            if not admin:
                pin, scope, more = middle
                pads += more
        taken = key in self.masters or passkey and name in self.passkey_ids
        subaccounts = len(exchange.hierarchy.accounts[account].subaccounts)
        if any(pads) or not is_point(key, passkey) or taken or scope > 1 or pin >= subaccounts:
            return S["master_key_rejected_invalid"]
        limit = exchange.limits["limits.admin_keys" if admin else "limits.scoped_keys"]
        if self.count_masters(account, admin) >= limit:
            exchange.reason = REASON["limit_reached"]
            return S["master_key_rejected_invalid"]
        if not exchange.shares.fits(account, "credentials"):
            return S["master_key_rejected_invalid"]
        self.add_master(account, key, admin, passkey, pin, scope, name)
        return S["master_key_added"]

    def remove_master(self, code, body):
        """Codes 17, 20, 29, 31."""
        account, key, pads = KEY_BODY.unpack(body)
        master = self.masters.get(key)
        if (any(pads) or master is None or master.account != account
                or (master.admin, master.passkey) != REMOVING[code]):
            return S["master_key_rejected_invalid"]
        if master.admin and self.count_masters(account, True) == 1:
            return S["master_key_rejected_last_key"]
        if master is self.signer:
            return S["master_key_rejected_self_removal"]
        del self.masters[key]
        self.exchange.shares.ended(master)
        if master.passkey:
            self.passkey_ids.discard(self.names.pop(key))
        self.tell(key[1:], account, master.pin, KIND_MASTER_KEY, REMOVED, master.scope)
        for session in reversed(self.live_sessions(account)):
            if session.parent is master:
                self.revoke(session)
        return S["master_key_removed"]

    # ---- API keys

    def create_key(self, body, digest):
        """Code 34; `digest` is the keyed hash of the secret, which is all that is stored."""
        exchange = self.exchange
        account, pin, scope, pad, label = CREATE_KEY_BODY.unpack(body)
        if (any(pad) or scope > READ_WRITE or has_control(label)
                or self.pin != NO_PIN and pin != self.pin
                or pin >= len(exchange.hierarchy.accounts[account].subaccounts)):
            return S["order_rejected_invalid"]
        if (self.key_counts.get(account, 0) >= exchange.limits["limits.api_keys"]
                or not exchange.shares.fits(account, "credentials")):
            exchange.reason = REASON["limit_reached"]
            return S["order_rejected_invalid"]
        key = ApiKey()
        key.made = exchange.sequence
        key.account, key.pin, key.scope, key.revoked, key.hash = account, pin, scope, False, digest
        self.key_counts[account] = self.key_counts.get(account, 0) + 1
        self.api_keys[uuid7_of(exchange.t, exchange.sequence, 0)] = key
        exchange.shares.made(key)
        self.tell(digest, account, pin, KIND_API_KEY, ADDED, scope)
        return 0

    def revoke_key(self, body):
        """Code 35: an API key or a device key, by its id."""
        account, key_id = REVOKE_KEY_BODY.unpack(body)
        key, end = self.api_keys.get(key_id), self.end_key
        for device in self.live_devices(account):
            if device.id == key_id:
                key, end = device, self.end_device
        if key is None or key.revoked or key.account != account:
            return S["order_rejected_invalid"]
        if self.pin not in (NO_PIN, key.pin):
            return S["rejected_unauthorized"]
        end(key)
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
                or len(self.live_devices(account)) >= exchange.limits["limits.device_keys"]
                or not exchange.shares.fits(account, "credentials")):
            return S["session_rejected"]
        key = DeviceKey()
        key.made, key.id = exchange.sequence, uuid7_of(exchange.t, exchange.sequence, 0)
        key.account, key.pin, key.revoked, key.hash = account, pin, False, digest
        key.expires_at, key.scope = expires_at, READ_WRITE
        self.device_keys.setdefault(account, []).append(key)
        exchange.shares.made(key, expires_at=expires_at)
        self.tell(digest, account, pin, KIND_DEVICE_KEY, ADDED, READ_WRITE)
        return 0

    def of_plain_write(self, key_id, takes_device):
        """The API key, or the live device key, of a plain write."""
        devices = [key for keys in self.device_keys.values() for key in keys
                   if takes_device and key.id == key_id and key.live(self.exchange.t)]
        return devices[0] if devices else self.api_keys.get(key_id)

    def end_device(self, key):
        key.revoked = True
        self.exchange.shares.ended(key)
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

    def forget(self, account):
        """An account is taken: its master keys end too, oldest first, and may sign up again."""
        self.end_all(account)
        for key, master in [(key, master) for key, master in self.masters.items()
                            if master.account == account]:
            del self.masters[key]
            self.exchange.shares.ended(master)
            if master.passkey:
                self.passkey_ids.discard(self.names.pop(key))
            self.tell(key[1:], account, master.pin, KIND_MASTER_KEY, REMOVED, master.scope)

    def end_key(self, key):
        key.revoked = True
        self.exchange.shares.ended(key)
        self.key_counts[key.account] -= 1
        self.tell(key.hash, key.account, key.pin, KIND_API_KEY, REMOVED, key.scope)
