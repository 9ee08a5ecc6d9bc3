"""Docker: the client, a daemon of our own where there is none, images, volumes and containers."""
