"""The fields of a row that belong to the task."""

from pydantic import BaseModel, ConfigDict


class TaskData(BaseModel):
    model_config = ConfigDict(extra="allow")

    task: str
    """Id of a task of the experiment."""
    setting: str
