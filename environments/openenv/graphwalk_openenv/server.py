"""The HTTP server: `uvicorn graphwalk_openenv.server:app`, or `server`."""

from openenv.core.env_server.http_server import create_app
from openenv.core.env_server.mcp_types import CallToolAction, CallToolObservation

from graphwalk_openenv.environment import GraphwalkEnvironment

app = create_app(GraphwalkEnvironment, CallToolAction, CallToolObservation, env_name="graphwalk")


def main() -> None:
    import uvicorn

    uvicorn.run(app, host="127.0.0.1", port=8000)


if __name__ == "__main__":
    main()
