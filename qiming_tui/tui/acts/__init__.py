"""What the commands of the registry do, by family; `table.Actions` finds and runs them."""
