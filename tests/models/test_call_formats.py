"""A corpus of replies as seven families of models write them, after their chat templates."""

import json
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from graphwalk.models.text_calls import find_calls, first_calls

Call = tuple[str, dict[str, Any]]
Write = Callable[[Sequence[Call]], str]
PARAMETERS: dict[str, dict[str, Any]] = {
    "look": {"key": {"type": "string"}},
    "find": {"label": {"type": "string"}, "name": {"type": "string"}, "value": {"type": ["string", "number"]}},
    "walk": {"keys": {"type": "array"}, "outgoing": {"type": "boolean"}},
    "get_schema": {},
}
CASES: list[list[Call]] = [
    [("look", {"key": "k6v0"})],
    [("find", {"label": "Hik", "name": "yip", "value": 7})],
    [("find", {"label": "Hik", "name": "yip", "value": -0.25})],
    [("look", {"key": 'O\'Neil, (the "first") [1]'})],
    [("look", {"key": "Žluťoučký 🦓"})],
    [("walk", {"keys": ["a", "b"], "outgoing": True})],
    [("get_schema", {})],
    [("look", {"key": "a"}), ("find", {"label": "A B", "name": "x", "value": 1}), ("look", {"key": "b"})],
]


def each(write: Callable[[str, dict[str, Any]], str], before: str = "", between: str = "\n", after: str = "") -> Write:
    return lambda calls: before + between.join(write(*call) for call in calls) + after


def listed(key: str, before: str = "", after: str = "") -> Write:
    return lambda calls: before + json.dumps([{"name": name, key: args} for name, args in calls]) + after


def object_with(key: str, before: str = "", after: str = "") -> Callable[[str, dict[str, Any]], str]:
    return lambda name, args: before + json.dumps({"name": name, key: args}, ensure_ascii=False) + after


def python(name: str, args: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{key}={value!r}' for key, value in args.items())})"


def python_list(before: str = "", after: str = "") -> Write:
    return each(python, f"{before}[", ", ", f"]{after}")


def value(item: Any) -> str:
    return item if isinstance(item, str) else json.dumps(item)


def qwen_xml(name: str, args: dict[str, Any]) -> str:
    written = "".join(f"<parameter={key}>\n{value(item)}\n</parameter>\n" for key, item in args.items())
    return f"<tool_call>\n<function={name}>\n{written}</function>\n</tool_call>"


def glm(name: str, args: dict[str, Any], gap: str = "\n") -> str:
    pairs = (f"<arg_key>{key}</arg_key>{gap}<arg_value>{value(item)}</arg_value>{gap}" for key, item in args.items())
    return f"<tool_call>{name}{gap}{''.join(pairs)}</tool_call>"


def dsml(name: str, args: dict[str, Any]) -> str:
    def parameter(key: str, item: Any) -> str:
        text = str(isinstance(item, str)).lower()
        return f'<｜DSML｜parameter name="{key}" string="{text}">{value(item)}</｜DSML｜parameter>\n'

    return f'<｜DSML｜invoke name="{name}">\n{"".join(parameter(*one) for one in args.items())}</｜DSML｜invoke>'


def gemma(before: str, quote: str, after: str) -> Callable[[str, dict[str, Any]], str]:
    def written(item: Any) -> str:
        if isinstance(item, list):
            return f"[{','.join(map(written, item))}]"
        return f"{quote}{item}{quote}" if isinstance(item, str) else json.dumps(item)

    return lambda name, args: f"{before}call:{name}{{{','.join(f'{k}:{written(v)}' for k, v in args.items())}}}{after}"


THOUGHT = "I need this node first.\n"
FENCED = object_with("arguments", "```json\n", "\n```")
DEEPSEEK = ("<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>")
FAMILIES: dict[str, list[Write]] = {
    "Qwen": [
        each(object_with("arguments", "<tool_call>\n", "\n</tool_call>")),
        each(object_with("arguments", "<tool_call>\n", "\n</tool_call>"), "<think>\nlook(key='x')?\n</think>\n\n"),
        each(qwen_xml),
        each(qwen_xml, THOUGHT),
        each(FENCED, THOUGHT, "\n\n"),
    ],
    "Llama": [
        each(object_with("parameters"), between="; "),
        each(object_with("parameters"), "<|python_tag|>", "; "),
        python_list(),
        each(lambda name, args: f"<function={name}>{json.dumps(args)}</function>"),
        python_list("<|python_start|>", "<|python_end|>"),
    ],
    "Mistral": [
        listed("arguments", "[TOOL_CALLS] "),
        listed("arguments", "[TOOL_CALLS]", "</s>"),
        each(lambda name, args: f"[TOOL_CALLS]{name}[ARGS]{json.dumps(args)}", between=""),
        each(lambda name, args: f"[TOOL_CALLS]{name}{json.dumps(args)}", THOUGHT, ""),
        each(lambda name, args: f"[TOOL_CALLS]{name}[CALL_ID]9f3xyz012[ARGS]{json.dumps(args)}", between=""),
    ],
    "LFM": [
        python_list("<|tool_call_start|>", "<|tool_call_end|>"),
        python_list("<|tool_call_start|>", "<|tool_call_end|>Checking this node now."),
        python_list(f"{THOUGHT.strip()}<|tool_call_start|>", "<|tool_call_end|>"),
        listed("arguments", "<|tool_call_start|>", "<|tool_call_end|>"),
        python_list(),
    ],
    "Gemma": [
        each(python, "```tool_code\n", "\n", "\n```"),
        python_list("```tool_code\n", "\n```"),
        each(object_with("parameters", "```json\n", "\n```")),
        each(gemma("<start_function_call>", "<escape>", "<end_function_call>"), between=""),
        each(gemma("<|tool_call>", '<|"|>', "<tool_call|>"), between=""),
    ],
    "GLM": [
        each(glm),
        each(glm, f"<think>{THOUGHT}</think>\n"),
        each(lambda name, args: glm(name, args, ""), between=""),
        each(lambda name, args: f"{name}\n{json.dumps(args, ensure_ascii=False)}"),
        each(object_with("arguments", "<tool_call>", "</tool_call>"), THOUGHT),
    ],
    "DeepSeek": [
        each(
            lambda name, args: (
                f"<｜tool▁call▁begin｜>function<｜tool▁sep｜>{name}\n```json\n{json.dumps(args)}\n```<｜tool▁call▁end｜>"
            ),
            DEEPSEEK[0],
            "\n",
            DEEPSEEK[1],
        ),
        each(
            lambda name, args: f"<｜tool▁call▁begin｜>{name}<｜tool▁sep｜>{json.dumps(args)}<｜tool▁call▁end｜>",
            DEEPSEEK[0],
            "",
            DEEPSEEK[1],
        ),
        each(dsml, "<｜DSML｜function_calls>\n", "\n", "\n</｜DSML｜function_calls>"),
        each(dsml, f"{THOUGHT}\n<｜DSML｜function_calls>\n", "\n", "\n</｜DSML｜function_calls>"),
        each(FENCED, "<think>\nHm {…}\n</think>\n", "\n\n"),
    ],
}
INVENTED = "\n\nResult of look:\n[{}]\n\n"
NO_CALLS = [
    '[{"key": "k6v0"}]',
    '[{"name": "look", "value": "a"}]',
    "```json\n[]\n```",
    '{"path": ["a", "b"]}',
    "I would now call look(key='a'), but the results show the answer: a.",
    "`look(key='a')` is what I called.",
    "The tools are look, find and walk.",
    "look (the tool) found nothing.",
    "Final Answer: [look, find]",
    "print(1 + 1)",
    "[find]",
    "look(key=other(1))",
    "look(key=__import__('os').getcwd())",
    "<tool_call></tool_call>",
    "<function=unknown><parameter=a>1</parameter></function>",
    'Answer\n{"key": "a"}',
]


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", range(5))
@pytest.mark.parametrize("calls", CASES, ids=range(len(CASES)))
def test_a_reply_is_read_to_its_calls(family: str, form: int, calls: list[Call]) -> None:
    text = FAMILIES[family][form](calls)
    read = find_calls(text, PARAMETERS, lenient=True).calls
    assert [(name, json.loads(arguments)) for name, arguments in read] == calls, text
    cut = first_calls(text + INVENTED + FENCED("look", {"key": "invented"}), PARAMETERS)
    assert find_calls(cut, PARAMETERS, lenient=True).calls == read, cut
    assert "invented" not in cut
    assert first_calls(cut, PARAMETERS) == cut


@pytest.mark.parametrize("text", NO_CALLS)
@pytest.mark.parametrize("before", ["", "The answer:\n", "<think>\nlook(key='x')\n</think>\n"])
def test_prose_and_answers_are_no_calls(text: str, before: str) -> None:
    assert find_calls(before + text, PARAMETERS, lenient=True).calls == ()
    assert first_calls(before + text, PARAMETERS) == before + text


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("form", range(5))
def test_a_reply_that_was_cut_off_has_no_whole_call_beyond_its_end(family: str, form: int) -> None:
    """A beginning is read to the calls of the whole reply, or to broken arguments that the tool refuses."""
    calls: list[Call] = [("find", {"label": "Hik", "name": "yip", "value": "seven"})]
    text = FAMILIES[family][form](calls)
    for end in range(text.find("</think>") + 1, len(text)):
        for name, arguments in find_calls(text[:end], PARAMETERS, lenient=True).calls:
            try:
                assert (name, json.loads(arguments)) == calls[0]
            except ValueError:
                continue
