"""tls_peer.py - the client's side of TLS: certificates made for a test, and a socket of TLS whose
every byte of ciphertext the test may see, keep or cut.
"""
import os
import pathlib
import shutil
import socket
import ssl
import subprocess

NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1"


def make_certificate(folder, name, key="ec", days=90, names=NAMES, signer=None, authority=False):
    """(certificate, key): PEM files in the folder. `signer`: such a pair; else it signs itself."""
    folder = pathlib.Path(folder)
    certificate, secret = folder / f"{name}.pem", folder / f"{name}.key"
    kind = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256"] if key == "ec" else [
        "-newkey", key]
    by = ["-CA", str(signer[0]), "-CAkey", str(signer[1])] if signer else []
    basic = "basicConstraints=critical,CA:" + ("TRUE" if authority else "FALSE")
    made = subprocess.run(
        ["openssl", "req", "-x509", *kind, "-nodes", "-subj", f"/CN={name}", "-days", str(days),
         "-addext", names, "-addext", basic, *by, "-keyout", str(secret), "-out",
         str(certificate)], capture_output=True, check=False)
    assert made.returncode == 0, made.stderr
    secret.chmod(0o600)
    return certificate, secret


def expired_certificate(folder, name):
    """A pair as make_certificate's that has ended yesterday."""
    certificate, secret = make_certificate(folder, name)
    request = pathlib.Path(folder) / f"{name}.csr"
    for arguments in (["req", "-new", "-key", secret, "-subj", f"/CN={name}", "-addext", NAMES,
                       "-out", request],
                      ["x509", "-req", "-in", request, "-signkey", secret, "-days", "-1",
                       "-copy_extensions", "copy", "-out", certificate]):
        made = subprocess.run(["openssl", *arguments], capture_output=True, check=False)
        assert made.returncode == 0, made.stderr
    return certificate, secret


def context_of(certificate=None, version=None, protocols=("http/1.1",), ciphers=None):
    """A client's SSLContext that trusts the certificate, and checks names if there is one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    if certificate is None:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    else:
        context.load_verify_locations(certificate)
    if ciphers is not None:
        context.set_ciphers(ciphers)
    if version is not None:
        context.minimum_version = context.maximum_version = version
    if protocols:
        context.set_alpn_protocols(list(protocols))
    return context


class TlsSocket:
    """A socket of TLS over a connected one, with as much of socket's interface as Connection uses.
    `piece`: ciphertext goes out in writes of so many bytes."""

    def __init__(self, raw, context, name="localhost", piece=None, session=None):
        self.raw, self.piece = raw, piece
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_hostname=name,
                                    session=session)
        self.ended = False  # by the server's close_notify

    def handshake(self):
        self._until(self.tls.do_handshake)
        return self

    def hello(self):
        """The first message of a handshake that goes no further."""
        try:
            self.tls.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return self.take()

    def flush(self):
        data = self.outgoing.read()
        step = self.piece or len(data) or 1
        for at in range(0, len(data), step):
            self.raw.sendall(data[at:at + step])

    def take(self):
        """The ciphertext that waits to be sent."""
        return self.outgoing.read()

    def _until(self, action, *arguments):
        while True:
            try:
                result = action(*arguments)
                self.flush()
                return result
            except ssl.SSLWantReadError:
                self.flush()
                data = self.raw.recv(65536)
                if not data:
                    raise EOFError("the server closed without close_notify") from None
                self.incoming.write(data)
            except ssl.SSLError:
                try:
                    self.flush()  # our alert
                except OSError:
                    pass
                raise

    def sendall(self, data):
        for at in range(0, len(data), 65536):
            self.tls.write(data[at:at + 65536])
            self.flush()

    def recv(self, count):
        if self.ended:
            return b""
        try:
            data = self._until(self.tls.read, count)
        except ssl.SSLZeroReturnError:
            data = b""
        self.ended = data == b""
        return data

    def shutdown(self, _how=socket.SHUT_WR):
        """close_notify, and reading goes on."""
        try:
            self.tls.unwrap()
        except ssl.SSLWantReadError:
            pass
        self.flush()

    def settimeout(self, seconds):
        self.raw.settimeout(seconds)

    def setsockopt(self, *arguments):
        self.raw.setsockopt(*arguments)

    def fileno(self):
        return self.raw.fileno()

    def close(self):
        self.raw.close()


def wrapper(context, **more):
    """For Exchange.wrap_socket."""
    return lambda raw: TlsSocket(raw, context, **more).handshake()


def put(pair, onto):
    """Copies a pair onto another one's files, each at once."""
    for source, target in zip(pair, onto):
        shutil.copy(source, f"{target}.new")
        pathlib.Path(f"{target}.new").chmod(0o600)
        os.replace(f"{target}.new", target)


def failure(peer, data):
    """Why the handshake failed; "" if it did not."""
    try:
        peer.handshake()
        peer.sendall(data)  # in TLS 1.3 the server's alert comes after the client's last flight
        peer.recv(1)
    except ssl.SSLError as error:
        return error.reason or str(error)  # Python knows no name of some
    except (EOFError, ConnectionError) as error:
        return repr(error)
    finally:
        peer.close()
    return ""
