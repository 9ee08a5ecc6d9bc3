"""What runs inside a container: unpack, configure, build, test, evidence, vectors, bench; and how sources are fetched."""
