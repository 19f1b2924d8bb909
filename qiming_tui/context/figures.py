"""Tokens and money as the screen writes them, in one place: a number looks the same everywhere."""


def tenths(tokens: int) -> int:
    """Tokens in tenths of thousands, half up: what `kilo` writes below a million."""
    return (tokens + 50) // 100


def kilo(tokens: int) -> str:
    """Tokens in thousands with one decimal, half up: 102.0k, 0.4k; from a million on 1.05M."""
    if tokens < 0:
        return f"-{kilo(-tokens)}"
    found = tenths(tokens)
    if found < 10_000:
        return f"{found // 10}.{found % 10}k"
    cents = (tokens + 5_000) // 10_000
    return f"{cents // 100}.{cents % 100:02}M"


def whole_tokens(tokens: int) -> str:
    """Tokens to the last one: 191,808."""
    return f"{tokens:,}"


def bare(tokens: int) -> str:
    """The same without the unit where that is thousands, for a column or legend that names it once."""
    return kilo(tokens).removesuffix("k")


def signed(tokens: int) -> str:
    """The same with its sign: +3.4k, -3.3k."""
    return kilo(tokens) if tokens < 0 else f"+{kilo(tokens)}"


def change(tokens: int, mark: str = "") -> str:
    """A difference in whole tokens: +1,234, -~1,234 with the mark of an estimate."""
    return f"{'-' if tokens < 0 else '+'}{mark}{abs(tokens):,}"


def plural(number: int, word: str) -> str:
    """`1 turn`, `3 turns`."""
    return f"{number:,} {word}" if number == 1 else f"{number:,} {word}s"


def money(dollars: float) -> str:
    """US dollars: $4.61; below a cent $0.004."""
    return f"${dollars:,.2f}" if dollars >= 0.01 or dollars == 0 else f"${dollars:.3f}"
