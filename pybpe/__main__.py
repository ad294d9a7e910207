"""`python -m pybpe`: the command line."""

import sys

from pybpe.cli import main

sys.exit(main())
