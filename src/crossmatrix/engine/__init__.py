"""Docker: the client, a daemon of our own where there is none, images, volumes and containers."""

from crossmatrix.engine.connect import CHOICE, connect
from crossmatrix.engine.docker import DockerEngine
from crossmatrix.engine.private import EngineStatus, engine_status, stop_private
from crossmatrix.engine.specs import image_specs

__all__ = ["CHOICE", "DockerEngine", "EngineStatus", "connect", "engine_status", "image_specs", "stop_private"]
