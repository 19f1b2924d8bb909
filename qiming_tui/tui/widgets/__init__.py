"""Parts of the screen: they take plain values and post messages."""
