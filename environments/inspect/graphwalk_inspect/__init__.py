"""GraphWalk for inspect_ai: `inspect eval graphwalk_inspect/questions --model openai/gpt-4.1-mini`."""

from graphwalk_inspect.tasks import graphwalks, magma, mazes, own_questions, questions

__all__ = ["graphwalks", "magma", "mazes", "own_questions", "questions"]
