"""Which rules the model follows: those that the engine has, or with PERPD_RULES=next
those of next/. Imported before any module of the model: it says where they come from."""
import os
import sys

IS_NEXT = os.environ.get("PERPD_RULES") == "next"
if IS_NEXT:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "next"))
