"""The typed interface of the package: what the tasks call, and what another program may call."""
