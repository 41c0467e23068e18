"""Question templates: one YAML file each, with wording, parameters, Cypher and the shape of the answer."""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field, PositiveInt, ValidationInfo, field_validator

from graphwalk.config.strict import Strict
from graphwalk.config.yaml_files import YamlFile, validate
from graphwalk.errors import ConfigError
from graphwalk.jinja import check_text
from graphwalk.resources import data_path
from graphwalk.suites.questions.wording import CYPHER_FILTERS, WORDING_FILTERS

Category = Literal["retrieval", "traversal", "logic"]
CATEGORIES: tuple[Category, ...] = get_args(Category)
Mode = Literal["set", "any-one", "ties-allowed"]
"""What counts as right: exactly the gold rows; any one of them; one of the tied ones (or all)."""
Role = Literal["label", "relationship_type", "key", "property", "value", "hops"]

_OWNERS: Mapping[Role, tuple[Role, ...]] = {
    "key": ("label",),
    "property": ("label", "relationship_type"),
    "value": ("property",),
}
"""What the `of` of a role must name."""


class Parameter(Strict):
    """One parameter and how it is drawn: a key, property or value `of` an earlier parameter."""

    role: Role
    of: str | None = None
    differs_from: str | None = None
    at_least: PositiveInt = 1
    """Smallest number of hops."""


class QuestionTemplate(Strict):
    """One kind of question (spec section 5).

    `cypher` is Jinja for `graphwalk.stores.cypher.render_cypher`; it may use `answer_properties`, the property names
    of the type that the parameter `answer_properties_of` names, which are then answer fields too.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    category: Category = Field(alias="class")
    version: PositiveInt
    parameters: dict[str, Parameter]
    wording: str
    cypher: str
    cypher_parameters: tuple[str, ...] = ()
    """Parameters that travel as Cypher parameters of the same name."""
    answer_fields: tuple[str, ...] = Field(min_length=1)
    answer_properties_of: str | None = None
    scored_fields: tuple[str, ...] = ()
    """Fields that decide whether a row is right; all of them where none are named."""
    mode: Mode = "set"
    candidates: tuple[str, ...] = ()
    """Parameters that span all rows an answer can have (nodes of a label, relationships of a type, values of a
    property); none where rows hold computed values."""
    preferred_rows: PositiveInt = 50
    """Parameters are drawn so that the gold answer is no longer, where the graph allows."""

    @field_validator("parameters")
    @classmethod
    def _owners_come_first(cls, parameters: dict[str, Parameter]) -> dict[str, Parameter]:
        earlier: dict[str | None, Role] = {}
        for name, parameter in parameters.items():
            owners = _OWNERS.get(parameter.role, ())
            if owners and earlier.get(parameter.of) not in owners:
                raise ValueError(f"{name}: `of` must name an earlier parameter, a {' or '.join(owners)}")
            if parameter.differs_from is not None and earlier.get(parameter.differs_from) != parameter.role:
                raise ValueError(f"{name}: `differs_from` must name an earlier parameter of the same role")
            earlier[name] = parameter.role
        return parameters

    @field_validator("wording", "cypher")
    @classmethod
    def _uses_known_names(cls, text: str, info: ValidationInfo) -> str:
        known = {*info.data.get("parameters", ()), "answer_properties", "any_node"}
        check_text(text, known, WORDING_FILTERS if info.field_name == "wording" else CYPHER_FILTERS)
        return text

    @field_validator("cypher_parameters", "answer_properties_of", "scored_fields", "candidates")
    @classmethod
    def _names_what_exists(cls, names: Any, info: ValidationInfo) -> Any:
        known = info.data.get("answer_fields" if info.field_name == "scored_fields" else "parameters", ())
        unknown = set([names] if isinstance(names, str) else names or ()) - set(known)
        if unknown:
            raise ValueError(f"there is no {', '.join(sorted(unknown))}; known: {', '.join(known)}")
        return names


def load_template(path: Path) -> QuestionTemplate:
    """One template. ConfigError names file, line and field of every mistake."""
    file = YamlFile.read(path)
    template = validate(QuestionTemplate, file.data, str(path), file.tree)
    if template.name != path.stem:
        raise ConfigError(f"{path}: name: {template.name!r} is not the name of the file")
    return template


@cache
def shipped_templates() -> Mapping[str, QuestionTemplate]:
    """Name → template of the questions in `templates/questions/`, by class and then by name."""
    templates = [load_template(path) for path in sorted(data_path("templates").glob("questions/*.yaml"))]
    return {t.name: t for t in sorted(templates, key=lambda t: (CATEGORIES.index(t.category), t.name))}


def question_text(name: str) -> str:
    """The file of a question that ships."""
    return data_path("templates").joinpath("questions", f"{name}.yaml").read_text(encoding="utf-8")


def choose_templates(names: Sequence[str] | None = None) -> list[QuestionTemplate]:
    """The templates with these names in this order, all for None. ConfigError for an unknown name."""
    shipped = shipped_templates()
    if unknown := [name for name in names or () if name not in shipped]:
        raise ConfigError(f"there is no question {', '.join(unknown)}", hint=f"known questions: {', '.join(shipped)}")
    return list(shipped.values()) if names is None else [shipped[name] for name in names]
