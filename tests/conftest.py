"""What holds for all tests."""

import os

# As the command line does: waiting threads sleep. Before torch is first imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
