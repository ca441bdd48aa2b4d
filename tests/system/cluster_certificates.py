"""cluster_certificates.py - certificates for an etcd of a drill: authorities, and in a folder what
a member and a node use now.
"""
import shutil
import subprocess

CURVE = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]


def openssl(folder, *words):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


class Certificates:
    """`ca.pem`, `server.*` and `client.*` of `folder` are in use; each authority has its own below
    it."""

    def __init__(self, folder, *authorities):
        self.folder = folder
        folder.mkdir()
        for name in authorities:
            self.sign(name)

    def sign(self, authority):
        own = self.folder / authority
        own.mkdir()
        openssl(own, "req", "-x509", *CURVE, "-days", "2", "-keyout", "ca.key", "-out", "ca.pem",
                "-subj", f"/CN={authority}")
        for name, address in (("server", "IP:127.0.0.1"), ("client", "DNS:client")):
            (own / f"{name}.ext").write_text(f"subjectAltName={address}\n")
            openssl(own, "req", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj",
                    f"/CN={name}")
            openssl(own, "x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                    "-CAcreateserial", "-days", "2", "-extfile", f"{name}.ext", "-out",
                    f"{name}.pem")

    def use(self, authority, *names):
        """These files (server, client) are those of the authority from now on."""
        for name in names:
            for end in ("pem", "key"):
                shutil.copy(self.folder / authority / f"{name}.{end}", self.folder)

    def trust(self, *authorities):
        (self.folder / "ca.pem").write_bytes(
            b"".join((self.folder / name / "ca.pem").read_bytes() for name in authorities))

    def path(self, name):
        return str(self.folder / name)
