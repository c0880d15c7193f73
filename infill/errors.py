"""What can go wrong in the world, as a tree; each message says what to do.

    NielloError
    ├── SettingsError   a setting or an option has a wrong value
    ├── SourceError     a user's file cannot be read, placed or written
    ├── ModelError      a model is missing, corrupt or of another shape
    ├── CanvasError     a canvas cannot fit the model's window
    └── RemoteError     a remote engine did not answer as it should

Foreign exceptions are translated once, at the border where they enter.
"""


class NielloError(Exception):
    """Anything a user can act on; its text is one line that says what to do."""


class SettingsError(NielloError):
    """A setting or an option has a wrong value."""


class SourceError(NielloError):
    """A user's file cannot be read, placed or written."""


class ModelError(NielloError):
    """A model is missing, corrupt or of another shape."""


class CanvasError(NielloError):
    """A canvas cannot fit the model's window."""


class RemoteError(NielloError):
    """A remote engine did not answer as it should."""
