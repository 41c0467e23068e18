"""Graph stores, which run Cypher: the embedded engine and Neo4j. Imports `graphs` and what is below."""
