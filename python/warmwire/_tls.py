"""The part of an :class:`ssl.SSLContext` that the engine can honour; anything else raises."""

from __future__ import annotations

import os
import ssl
from typing import Any

from ._errors import OptionError
from ._models import OPTIONS, Option

_VERSIONS = {
    ssl.TLSVersion.MINIMUM_SUPPORTED: 0,
    ssl.TLSVersion.MAXIMUM_SUPPORTED: 0,
    ssl.TLSVersion.TLSv1: 4,
    ssl.TLSVersion.TLSv1_1: 5,
    ssl.TLSVersion.TLSv1_2: 6,
    ssl.TLSVersion.TLSv1_3: 7,
}


class SSLContext(ssl.SSLContext):
    """An :class:`ssl.SSLContext` that remembers its client certificate, which Python's own does not show.

    >>> context = warmwire.SSLContext()
    >>> context.minimum_version = ssl.TLSVersion.TLSv1_3
    >>> client = warmwire.Client(verify=context)
    """

    _certificate: tuple[Any, Any, Any] | None = None

    def __new__(cls, protocol: int = ssl.PROTOCOL_TLS_CLIENT) -> SSLContext:
        found = super().__new__(cls, protocol)
        if protocol == ssl.PROTOCOL_TLS_CLIENT:
            found.load_default_certs()
        return found

    def load_cert_chain(self, certfile: Any, keyfile: Any = None, password: Any = None) -> None:
        """Loads the client's certificate and remembers its files."""
        super().load_cert_chain(certfile, keyfile, password)
        self._certificate = (certfile, keyfile, password() if callable(password) else password)


# As for the other public names: tracebacks, help() and pickles name the public module.
SSLContext.__module__ = __package__ or "warmwire"

def context_options(context: ssl.SSLContext) -> list[Option]:
    """Returns the options of a transfer; raises for what they cannot express."""
    _refuse(context)
    found: list[Option] = []
    if context.verify_mode == ssl.CERT_NONE:
        found.append((OPTIONS["SSL_VERIFYPEER"], 0))
    elif roots := context.get_ca_certs(binary_form=True):
        pem = "".join(ssl.DER_cert_to_PEM_cert(root) for root in roots)
        found.append((OPTIONS["CAINFO_BLOB"], pem.encode()))
    if not context.check_hostname:
        found.append((OPTIONS["SSL_VERIFYHOST"], 0))
    least, most = _VERSIONS[context.minimum_version], _VERSIONS[context.maximum_version]
    if least or most:
        found.append((OPTIONS["SSLVERSION"], least | most << 16))
    certificate = getattr(context, "_certificate", None)
    if certificate is not None:
        for name, part in zip(("SSLCERT", "SSLKEY", "KEYPASSWD"), certificate):
            if part is not None:
                found.append((OPTIONS[name], part if isinstance(part, (str, bytes)) else os.fspath(part)))
    return found


def _refuse(context: ssl.SSLContext) -> None:
    usual = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    names = [[cipher["name"] for cipher in each.get_ciphers()] for each in (context, usual)]
    other = []
    if names[0] != names[1]:
        other.append("set_ciphers (use options={'SSL_CIPHER_LIST': ...})")
    if context.keylog_filename:
        other.append("keylog_filename (use the environment's SSLKEYLOGFILE)")
    if context.verify_flags & (ssl.VERIFY_CRL_CHECK_LEAF | ssl.VERIFY_CRL_CHECK_CHAIN):
        other.append("revocation lists (use options={'CRLFILE': ...})")
    if context.protocol == ssl.PROTOCOL_TLS_SERVER:
        other.append("PROTOCOL_TLS_SERVER")
    if other:
        raise OptionError(f"this part of an ssl.SSLContext cannot be honoured: {'; '.join(other)}", 48)
