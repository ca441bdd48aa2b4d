"""perpd - a client of the exchange perpd: clients/python/README.md has what it does."""
from .amount import Amount
from .body import PortfolioId
from .sign import SessionKey, SlowSignerWarning

__all__ = ["Amount", "PortfolioId", "SessionKey", "SlowSignerWarning"]
