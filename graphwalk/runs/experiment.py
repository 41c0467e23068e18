"""An experiment: its fields, the protocol and the variants that set some of them, and how it is loaded from YAML."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, Self, TypeVar
from urllib.parse import urlsplit

import yaml
from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    PositiveInt,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)

from graphwalk.config.agent import AgentConfig, Limits, ModelOptions, Price, Scoring, foreign_agent
from graphwalk.config.graph_source import GraphSource
from graphwalk.config.resources import YamlFile, data_path, parse_value
from graphwalk.config.strict import (
    MOST,
    LoggedSettings,
    Strict,
    SuiteConfig,
    as_typed,
    in_words,
    is_path,
    set_dotted,
    short_text,
    validate,
)
from graphwalk.errors import ConfigError, did_you_mean
from graphwalk.suites.suite import SUITES, suite_named
from graphwalk.variables import server_variable

C = TypeVar("C", bound=SuiteConfig)
DEFAULT_PROTOCOL = "graphwalk"
_VARIED_PARTS = ("agent", "options")
_UNSAFE = re.compile(r"[^\w.+-]+")


@cache
def protocols() -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return protocol → suite → dotted field → value (templates/protocols/NAME.yaml). `graphwalk` sets no field."""
    files = sorted(data_path("templates").glob("protocols/*.yaml"))
    return {DEFAULT_PROTOCOL: {}, **{path.stem: YamlFile.read(path).data for path in files}}


def _set_open(data: Any, key: str, value: Any) -> None:
    """Set a dotted field in all places where it is missing; `*` is every entry of a list."""
    head, _, rest = key.partition(".")
    if head == "*":
        for entry in data if isinstance(data, list) else ():
            _set_open(entry, rest, value)
    elif isinstance(data, dict):
        if rest and isinstance(data.get(head), dict | list):
            _set_open(data[head], rest, value)
        elif data.get(head) is None and not (head in data and not rest):
            set_dotted(data, key, value, key)


def _checked_values(vary: Mapping[str, Sequence[Any]], info: ValidationInfo) -> dict[str, tuple[Any, ...]]:
    """Return `vary` with valid values, paths absolute. Raise ValueError for an unknown field or a bad value."""
    config, context = info.data, info.context
    if not config.keys() >= set(_VARIED_PARTS):  # one of them is refused, with an error of its own
        return dict(vary)  # type: ignore[arg-type]
    if not vary:
        return {}
    values_by_field = {}
    for field, values in vary.items():
        values_by_field[field] = tuple(_checked_value(field, value, config, context) for value in values)
    for field, checked in values_by_field.items():
        if not checked:
            raise ValueError(f"{field}: needs at least one value")

    names = [name for name, _ in _combinations(values_by_field)]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"two variants are named {name}; list each value once")
    return values_by_field


def _checked_value(field: str, value: Any, config: Mapping[str, Any], context: Any) -> Any:
    part_name, _, name = field.partition(".")
    part = config[part_name] if part_name in _VARIED_PARTS else None
    if part is None or name not in type(part).model_fields:
        raise ValueError(f"{field} cannot be varied; use a field of agent or options")
    try:
        return _overridden(part, {name: value}, context).model_dump(mode="json")[name]
    except ValidationError as error:
        raise ValueError(f"{field}: {in_words(error.errors()[0])}") from error
    except KeyError:  # the field is left out of the dump at its default
        return value


def _overridden(part: BaseModel, overrides: Mapping[str, Any], context: Any = None) -> BaseModel:
    """Return a part of an experiment with other values. Raise ValidationError for a bad one."""
    return type(part).model_validate({**part.model_dump(mode="json"), **overrides}, context=context)


def _combinations(vary: Mapping[str, Sequence[Any]]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and overrides (field → value) of each variant: `turn_limit=5`, or `turn_limit=5,tool_words=short`."""
    for values in product(*vary.values()):
        overrides = dict(zip(vary, values, strict=True))
        labels = []
        for field, value in overrides.items():
            name = field.partition(".")[2]  # agent.turn_limit → turn_limit
            labels.append(f"{name}={_label(value)}")
        yield ",".join(labels), overrides


def _label(value: Any) -> str:
    """Return a value as a part of a name, without spaces, commas and slashes."""
    if isinstance(value, list | tuple):
        return "+".join(map(_label, value)) or "none"
    if isinstance(value, str) and is_path(value):
        value = value.rstrip("/").rpartition("/")[2]
    if value is None:
        return "default"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _UNSAFE.sub("-", str(value))


class Extractor(Strict):
    """A model that extracts answers that the parser cannot read."""

    model: str = Field(min_length=1)
    """`provider/model`."""
    required: bool = True
    """Refuse to run without its API key; else run without the extractor."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, data: Any) -> Any:
        return {"model": data} if isinstance(data, str) else data


class ExperimentConfig(Strict, Generic[C]):
    """One experiment: suite × models × settings × repeats. C is the configuration class of the suite."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    """Name of the experiment, and part of the names of run folders."""
    description: str = ""
    """Description in the list of experiments."""
    protocol: Literal["graphwalk", "paper"] = "graphwalk"
    """Protocol: graphwalk, or paper for the settings of the papers where the experiment leaves them open."""
    suite: C
    models: tuple[str, ...] = ()
    """Models as `provider/model`; none: the scripted agents."""
    names: dict[str, Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]] = Field(
        default_factory=dict
    )
    """Names of models in reports, by model."""
    model_arguments: dict[str, LoggedSettings] = Field(default_factory=dict)
    """Extra keyword arguments for the model's constructor, by model."""
    servers: dict[str, str] = Field(default_factory=dict)
    """Base URLs by server: `openai`, or NAME of `openai-api/NAME/MODEL`; others come from NAME_BASE_URL."""
    settings: tuple[str, ...] = ("tools",)
    """Settings: tools, no_tools, write_cypher; for MAGMA its strategies."""
    primary: tuple[str, str] | None = None
    """Two settings whose difference is the primary comparison, declared before the run: `[tools, no_tools]`."""
    repeats: int = Field(default=1, ge=1, le=MOST)
    """Episodes per task, model and setting."""
    limit: PositiveInt | None = None
    """Number of tasks; only the first ones are used."""
    seed: int = 0
    """Random seed."""
    store: str = "embedded"
    """Graph store: "embedded", "neo4j", or a store of another package."""
    agent: AgentConfig = Field(default=AgentConfig(), validate_default=True)
    options: ModelOptions = ModelOptions()
    limits: Limits = Limits()
    prices: dict[str, Price] = Field(default_factory=dict)
    """Prices by model, in US dollars per million tokens; they replace the published ones."""
    extractor: Extractor | None = None
    """Model for answers that the parser cannot read; its name alone, or with `required`."""
    scoring: Scoring = Scoring()
    reference: str | None = Field(default=None, min_length=1)
    """Published table shown in the report for comparison: "table_1_mazes", "table_2_questions", …"""
    vary: Annotated[dict[str, tuple[Any, ...]], AfterValidator(_checked_values)] = Field(default_factory=dict)
    """Fields to vary, with their values: `agent.compaction: [none, window]`. Each combination is a variant of the run,
    played on the same tasks."""

    @field_validator("names")
    @classmethod
    def _distinct(cls, names: dict[str, str], info: ValidationInfo) -> dict[str, str]:
        names_in_reports = [names.get(model, model) for model in info.data.get("models", ())]
        for name in names_in_reports:
            if names_in_reports.count(name) > 1:
                raise ValueError(f"two models have the name {name!r}")
        return names

    @field_validator("servers")
    @classmethod
    def _addresses_without_secrets(cls, servers: dict[str, str]) -> dict[str, str]:
        for name, url in servers.items():
            parts = urlsplit(url)
            if "@" in parts.netloc or parts.query or parts.fragment:
                raise ValueError(
                    f"{name}: an address is logged, and must have no user, query or fragment; set the key as "
                    f"{server_variable(name)}_API_KEY, or the whole address as {server_variable(name)}_BASE_URL"
                )
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError(f"{name}: {url!r} is not the address of a server; write it as https://host/v1")
        return servers

    @field_validator("models", "settings", "primary")
    @classmethod
    def _each_once(cls, names: tuple[str, ...] | None) -> tuple[str, ...] | None:
        """Refuse duplicates: their episodes would be paid for twice and counted once."""
        if names is None:
            return None
        twice = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if twice:
            raise ValueError(f"{', '.join(twice)} is named twice; for more episodes of a task use repeats")
        return names

    @field_validator("settings", "primary")
    @classmethod
    def _of_the_suite(cls, names: tuple[str, ...] | None, info: ValidationInfo) -> tuple[str, ...] | None:
        if names == ():
            raise ValueError("needs at least one setting")
        if names is None or "suite" not in info.data:
            return names
        suite = suite_named(info.data["suite"].name)
        words = suite.abbreviations
        names_in_words = ", ".join(f"{name} ({words[name]})" if name in words else name for name in suite.settings)
        for name in names:
            if name not in suite.settings:
                close = did_you_mean(name, suite.settings) or ";"
                raise ValueError(f"suite {suite.name} has no setting {name!r}{close} settings: {names_in_words}")
        return names

    @field_validator("agent")
    @classmethod
    def _as_the_suite_says(cls, agent: AgentConfig, info: ValidationInfo) -> AgentConfig:
        """Fill in the suite's turn limit and the limits on foreign graphs, so that a run records them."""
        suite = info.data.get("suite")
        if suite is not None and suite.foreign:
            agent = foreign_agent(agent)
        if agent.turn_limit is not None or suite is None:
            return agent
        return agent.model_copy(update={"turn_limit": suite_named(suite.name).turn_limit})

    @cached_property
    def variants(self) -> Mapping[str, Self]:
        """The experiment of each variant by name; empty without `vary`."""
        if not self.vary:
            return {}
        return {name: self._variant(overrides) for name, overrides in _combinations(self.vary)}

    def _variant(self, overrides: Mapping[str, Any]) -> Self:
        by_part: dict[str, dict[str, Any]] = {}
        for field, value in overrides.items():
            part, _, name = field.partition(".")
            by_part.setdefault(part, {})[name] = value
        parts = {part: _overridden(getattr(self, part), values) for part, values in by_part.items()}
        return self.model_copy(update={**parts, "vary": {}})

    def as_yaml(self) -> str:
        """Return the experiment with all fields as YAML that can be run."""
        return yaml.safe_dump(self.model_dump(mode="json"), sort_keys=False, allow_unicode=True)


AnyExperiment = ExperimentConfig[Any]


def experiment_groups() -> dict[str, list[str]]:
    """Return title → names of the built-in experiments."""
    text = (data_path("templates") / "experiments" / "groups.json").read_text(encoding="utf-8")
    groups: dict[str, list[str]] = json.loads(text)
    return groups


def shipped_experiments() -> dict[str, Path]:
    """Return name → file of the built-in experiments, in the order of their groups."""
    folder = data_path("templates") / "experiments"
    return {name: folder / f"{name}.yaml" for names in experiment_groups().values() for name in names}


def find_experiment(name: str) -> Path:
    """Return the file of an experiment by name or path. Raise ConfigError, with the known names, if there is none."""
    path, is_file = Path(name), name.endswith((".yaml", ".yml"))
    if not is_file and not is_path(name):
        path = data_path("templates") / "experiments" / f"{name}.yaml"
    if path.is_file():
        return path
    missing = f"there is no file {name}" if is_file else f"there is no experiment {name!r}"
    names = shipped_experiments()
    hint = f"known experiments: {', '.join(names)}; or give the path of a YAML file"
    raise ConfigError(missing + did_you_mean(name, names), hint=hint)


def load_experiment(
    source: str | Mapping[str, Any],
    overrides: Sequence[str] = (),
    flags: Mapping[str, Any] | None = None,
    *,
    graphs: int | None = None,
    graph: GraphSource | None = None,
    name: str = "the experiment",
) -> AnyExperiment:
    """Load an experiment and apply `key=value` overrides, then `flags`; keys are dotted, values YAML.

    `source` is a name, the path of a YAML file, or the content of one, which errors call `name`. `*` in a dotted key
    is every element of a list: `suite.graphs.*.count=3`. `graphs` sets the number of graphs, mazes or traces of each
    kind; `graph` is your own in place of the experiment's graphs, of which `twin` is kept. Paths in a file are relative
    to it, those in overrides and flags to the working directory.
    Raise ConfigError with the file and line of an error; only with the field, if an override or a flag set it.
    """
    tree: yaml.Node | None = None
    folder = Path.cwd()
    if isinstance(source, Mapping):
        data: Any = deepcopy(dict(source))
    else:
        path = find_experiment(source)
        file = YamlFile.read(path)
        name, data, folder, tree = str(path), file.data, path.parent, file.tree
    if not isinstance(data, dict):
        raise ConfigError(f"{name}: expected a mapping of fields, found {short_text(data)}")

    fields_set = []
    for override in overrides:
        key, value = parse_override(override)
        fields_set.append(key)
        set_dotted(data, key, as_typed(value), f"-o {key}")
    for key, value in (flags or {}).items():
        fields_set.append(key)
        set_dotted(data, key, as_typed(value), key)

    suite = data.get("suite")
    if not isinstance(suite, dict) or not isinstance(suite.get("name"), str):
        raise ConfigError(f"{name}: suite: name: a suite must be named", hint=f"suites: {', '.join(SUITES.names())}")
    try:
        suite_config: Any = suite_named(suite["name"]).config_type
    except ConfigError as error:
        raise ConfigError(f"{name}: {error.message}", hint=error.hint) from error
    if graph is not None:
        suite["graphs"] = [_own_graph(graph, suite.get("graphs"))]
    if graphs is not None:
        _set_count(suite, suite_config, graphs)

    of_protocol = protocols().get(str(data.get("protocol", DEFAULT_PROTOCOL)), {})
    for field, value in of_protocol.get(suite["name"], {}).items():
        _set_open(data, field, value)
    return validate(ExperimentConfig[suite_config], data, name, tree, fields_set, folder=folder)


def _own_graph(graph: GraphSource, replaced: Any) -> dict[str, Any]:
    """Return the entry of a graph that replaces those of the experiment; it has a `twin` if the first of them has."""
    entry = {}
    for one in replaced or ():
        if isinstance(one, dict):
            if "twin" in one:
                entry["twin"] = one["twin"]
            break
    entry.update(graph.model_dump(mode="json", exclude_none=True))
    return entry


def _set_count(suite: dict[str, Any], suite_config: type[SuiteConfig], count: int) -> None:
    """Set the number of graphs, mazes or traces of each kind, of the suite's default kinds if it names none."""
    field = suite_config.graphs_field
    if field not in suite:
        default = suite_config.model_fields[field].get_default(call_default_factory=True)
        suite[field] = [entry.model_dump(exclude_unset=True) for entry in default]
    set_dotted(suite, f"{field}.*.count", count, "graphs")


def parse_override(override: str, flag: str = "-o") -> tuple[str, Any]:
    """Return key and value of `key=value`. Raise ConfigError if it has another form."""
    key, sign, text = override.partition("=")
    if not sign or not key.strip():
        raise ConfigError(f"{flag} {override}: expected NAME=VALUE, for example {flag} seed=7")
    return key.strip(), parse_value(text, f"{flag} {key.strip()}")


def protocol_note(config: Mapping[str, Any]) -> str:
    """Return the line of a report on the run's protocol; `config` is the configuration as in run.json."""
    changed = deviations(config)
    differs = f" This run differs from it in {', '.join(changed)}." if changed else ""
    return f"Protocol: {config['protocol']}.{differs}"


def deviations(config: Mapping[str, Any]) -> list[str]:
    """Return the dotted fields of a run that are not those of its protocol. The protocol `graphwalk` sets none."""
    protocol, suite = config["protocol"], config["suite"]["name"]
    named = protocols()[protocol].get(suite)
    if named is None:
        return []
    plain = {"name": protocol, "protocol": protocol, "suite": {"name": suite}}
    expected = load_experiment(plain).model_dump(mode="json")
    fields = {"scoring.extraction"}
    fields.update(named)
    fields.update(f"agent.{field}" for field in expected["agent"])
    return [field for field in sorted(fields) if field_value(config, field) != field_value(expected, field)]


def field_value(config: Mapping[str, Any], field: str) -> Any:
    """Return the value of a dotted field of a configuration, None where it is missing."""
    value: Any = config
    for name in field.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
