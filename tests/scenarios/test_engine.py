"""Every scenario on the engine alone."""
import sys

import run

if __name__ == "__main__":
    sys.exit(run.main())
