"""What the app refuses, as one exception with a status code and a message for people."""


class Refusal(Exception):
    """A request that is not carried out. `code` lets a script tell cases apart without reading the message."""

    def __init__(self, status: int, message: str, code: str = "refused") -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = code
