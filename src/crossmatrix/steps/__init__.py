"""What runs inside a container, from unpack to bench; and how sources are fetched."""
