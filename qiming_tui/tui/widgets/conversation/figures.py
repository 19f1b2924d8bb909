"""Tokens and times as the conversation writes them."""


def tokens_words(tokens: int) -> str:
    """Tokens as 0.1k, 24.3k, 1.2M: one decimal, half up."""
    if tokens >= 999_950:
        return f"{(tokens + 50_000) // 100_000 / 10:.1f}M"
    return f"{(tokens + 50) // 100 / 10:.1f}k"


def took_words(took_ms: float) -> str:
    """A duration as 0.1s, 41s, 3m 05s."""
    if took_ms < 9_950:
        return f"{took_ms / 1000:.1f}s"
    seconds = round(took_ms / 1000)
    if seconds < 60:
        return f"{seconds}s"
    minutes, seconds = divmod(seconds, 60)
    if minutes < 60:
        return f"{minutes}m {seconds:02}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02}m"
