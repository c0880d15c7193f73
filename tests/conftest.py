"""What holds for all tests."""

import os

# As the command line does: threads spin only a little. Before torch is first imported.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
