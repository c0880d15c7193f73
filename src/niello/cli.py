"""The command line and composition root."""


def main() -> int:
    """Run the command line and return its exit status."""
    return 2
