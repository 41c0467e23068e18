"""OpenEnv's own client walks through a real server on this machine, and is paid: python tests/walk.py"""

import json
import os
import socket
import threading
import time

QUESTION = {"name": "q", "suite": {"name": "questions", "graphs": [{"nodes": 20}], "questions": ["node_by_property"]}}
os.environ["GRAPHWALK_EXPERIMENT"] = json.dumps(QUESTION)

import uvicorn  # noqa: E402
from graphwalk_openenv.environment import opened_stage  # noqa: E402
from graphwalk_openenv.server import app  # noqa: E402
from openenv.core.env_server.mcp_types import CallToolAction  # noqa: E402
from openenv.core.mcp_client import MCPToolClient  # noqa: E402


def served() -> str:
    """The address of a server that is ready."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
    threading.Thread(target=server.run, kwargs={"sockets": [sock]}, daemon=True).start()
    while not server.started:
        time.sleep(0.05)
    return f"http://127.0.0.1:{sock.getsockname()[1]}"


def main() -> None:
    with MCPToolClient(base_url=served()).sync() as client:
        client.reset(task=0)
        names = [tool.name for tool in client.list_tools()]
        assert names[0] == "get_node_by_property"
        assert names[-1] == "answer"
        task = opened_stage(os.environ["GRAPHWALK_EXPERIMENT"]).planned[0].task.parameters
        arguments = {
            "label": task["label"],
            "property_name": task["property"],
            "property_value": task["value"],
        }
        call = CallToolAction(tool_name="get_node_by_property", arguments=arguments)
        thought = client.step(CallToolAction(tool_name="think", arguments={"thought": "Look it up."}))
        first, again = client.step(call), client.step(call)
        assert not again.done, again
        assert (thought.reward, first.reward, again.reward) == (0, 1, 0)
        shown = client.call_tool("get_node_by_property", **arguments)
        rows = json.loads(shown if isinstance(shown, str) else shown["content"][0]["text"])
        client.reset(task=0)
        client.step(call)
        answer = json.dumps([{"node_key": row["properties"]["key"]} for row in rows])
        step = client.step(CallToolAction(tool_name="answer", arguments={"answer": answer}))
        assert step.done, step
        print(f"reward {step.reward}")


if __name__ == "__main__":
    main()
