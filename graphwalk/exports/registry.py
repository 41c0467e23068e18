"""Registry of export formats: functions that write episodes into a file or a new folder.

They read the episodes as a stream, never all at once. Their docstrings are the help of their commands. They raise
ConfigError if the place cannot be written, or a library is missing.
"""

from graphwalk.config.registry import Registry

EXPORTS = Registry(
    "export format",
    "graphwalk.exports",
    {
        "csv": "graphwalk.exports.tables:export_csv",
        "questions": "graphwalk.exports.questions:export_questions",
    },
)
