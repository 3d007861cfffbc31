"""`python -m lowdim`: the command line."""

import sys

from lowdim.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
