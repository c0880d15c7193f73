"""What holds for all tests."""

import os
import signal

# As the command line does: threads spin only a little. Before torch is first imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")

# A shell starts jobs in the background deaf to interrupts, and children inherit that.
signal.signal(signal.SIGINT, signal.default_int_handler)
