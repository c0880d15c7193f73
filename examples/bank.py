"""A small account book."""

from dataclasses import dataclass, field


@dataclass
class Account:
    """Money of one owner, in cents."""

    owner: str
    balance: int = 0
    history: list[int] = field(default_factory=list)

    def withdraw(self, amount: int) -> None:
        """Take ``amount`` cents out; raise ValueError if it is not positive or
        more than the balance."""


    def deposit(self, amount: int) -> None:
        """Put ``amount`` cents in."""
        if amount <= 0:
            raise ValueError("amount must be positive")
        self.balance += amount
        self.history.append(amount)
