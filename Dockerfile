# `graphwalk mcp` in an image; docs/mcp.md has the commands. Build it in a checkout:  docker build --tag graphwalk-mcp .
FROM python:3.13-slim
LABEL io.modelcontextprotocol.server.name="io.github.graphwalk-agents/graphwalk"
WORKDIR /app
COPY requirements/image.txt requirements/
RUN pip install --no-cache-dir --require-hashes -r requirements/image.txt
COPY pyproject.toml README.md LICENSE docker-compose.yml ./
COPY graphwalk graphwalk
COPY templates templates
COPY tools tools
COPY examples examples
RUN pip install --no-cache-dir --no-deps --no-build-isolation .
ENV HOME=/tmp
USER 65534
WORKDIR /data
EXPOSE 8420
ENTRYPOINT ["graphwalk", "mcp"]
CMD ["--help"]
