"""perpd - a client of the exchange perpd: clients/python/README.md has what it does."""
from ._wire_gen import Side, Stp, TriggerSource
from .account import Account, PrivateEvent
from .address import AddressLike, address_of, address_text
from .amount import Amount, Rounding
from .body import PortfolioId
from .book import Book
from .client import Client, connect
from .errors import (Lost, NotExecuted, NotOnGrid, Overrun, PerpdError, Problem, Rejected,
                     WrongChecksum, WrongExchange)
from .market import Market
from .master import MasterKey, SlowMasterWarning
from .opening import Opened, open_account
from .order import Direction, Order
from .requests import Outcome, OutcomePending
from .sign import SessionKey, SlowSignerWarning
from .stream import Arm, Event
from .trading import Placement
from .views import Bbo, Mark, Trade

__all__ = ["Account", "AddressLike", "Amount", "Arm", "Bbo", "Book", "Client", "Direction",
           "Event", "Lost", "Mark", "Market", "MasterKey", "NotExecuted", "NotOnGrid", "Opened",
           "Order", "Outcome", "OutcomePending", "Overrun", "PerpdError", "Placement",
           "PortfolioId", "PrivateEvent", "Problem", "Rejected", "Rounding", "SessionKey", "Side",
           "SlowMasterWarning", "SlowSignerWarning", "Stp", "Trade", "TriggerSource",
           "WrongChecksum", "WrongExchange", "address_of", "address_text", "connect",
           "open_account"]
