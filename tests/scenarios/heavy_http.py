"""Every scenario over HTTP, but for those that say why they cannot be seen there."""
import sys

import run

if __name__ == "__main__":
    sys.argv.append("--http")
    sys.exit(run.main())
