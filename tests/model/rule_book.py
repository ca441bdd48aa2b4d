"""Which rules the model follows: those of the engine, or with PERPD_RULES=former the frozen ones of
former/. Imported before any module of the model: it says where they come from."""
import os
import sys

IS_FORMER = os.environ.get("PERPD_RULES") == "former"
if IS_FORMER:
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "former"))
