"""The inspector's pages and the table they are shown in."""
