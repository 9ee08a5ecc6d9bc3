"""What the tasks of `invoke` do: read words, call the api, print."""
