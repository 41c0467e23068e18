# The MCP server of one graph, over stdin and stdout:
#
#   docker build --tag graphwalk-mcp .
#   docker run --interactive --rm --volume "$PWD/movies.graphml:/graph/movies.graphml:ro" graphwalk-mcp --graph /graph/movies.graphml
#   docker run --interactive --rm --env NEO4J_URI --env NEO4J_USERNAME --env NEO4J_PASSWORD graphwalk-mcp
#
# Over HTTP, beside a Neo4j:  docker compose --profile mcp up
FROM python:3.13-slim
LABEL io.modelcontextprotocol.server.name="io.github.graphwalk-agents/graphwalk"
WORKDIR /graphwalk
COPY pyproject.toml README.md LICENSE docker-compose.yml ./
COPY graphwalk graphwalk
COPY templates templates
COPY tools tools
RUN python -m pip install --no-cache-dir --disable-pip-version-check '.[mcp]'
WORKDIR /graph
ENV HOME=/tmp
USER 65532:65532
ENTRYPOINT ["graphwalk", "mcp"]
CMD ["--database", "neo4j"]
