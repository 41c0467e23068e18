"""Export formats: functions that stream episodes into a file or a new folder; their docstring is the help."""

from graphwalk.config.registry import Registry

EXPORTS = Registry(
    "export format",
    "graphwalk.exports",
    {
        "csv": "graphwalk.exports.tables:export_csv",
        "parquet": "graphwalk.exports.tables:export_parquet",
    },
)
