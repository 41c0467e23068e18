"""The pairs of players that a report compares."""

from graphwalk.reports.ablation import gains_by_walking, planned_pairs
from graphwalk.reports.observations import Player


def settings_of(*settings: str, models: tuple[str, ...] = ("m",)) -> list[tuple[str, str]]:
    pairs = planned_pairs(Player(model, setting) for model in models for setting in settings)
    return [(first.setting, second.setting) for first, second in pairs]


def test_all_pairs_are_compared_without_an_ablation() -> None:
    assert settings_of("tools:+x", "tools:base", "no_tools") == [
        ("tools:+x", "tools:base"),
        ("tools:+x", "no_tools"),
        ("tools:base", "no_tools"),
    ]


def test_an_ablation_compares_each_lever_with_its_reference_only() -> None:
    assert settings_of("tools:base", "tools:all", "tools:+x", "tools:-x", "tools:+y") == [
        ("tools:base", "tools:all"),
        ("tools:base", "tools:+x"),
        ("tools:base", "tools:+y"),
        ("tools:all", "tools:-x"),
    ]


def test_two_models_are_compared_in_the_same_variant() -> None:
    pairs = list(planned_pairs(Player(model, f"tools:{name}") for model in ("m", "n") for name in ("base", "all")))
    assert [(first, second) for first, second in pairs if first.model != second.model] == [
        (Player("m", f"tools:{name}"), Player("n", f"tools:{name}")) for name in ("base", "all")
    ]


def test_a_model_gains_by_walking_over_the_same_variant_of_another_setting() -> None:
    settings = ("no_tools:a", "no_tools:b", "tools:a", "tools:c", "write_cypher:a")
    players = [Player("m", setting) for setting in settings] + [Player("n", "no_tools:a")]
    walking = Player("m", "tools:a")
    assert list(gains_by_walking(players)) == [
        (walking, Player("m", "no_tools:a")),
        (walking, Player("m", "write_cypher:a")),
    ]
    assert not list(gains_by_walking([*players, Player("m", "tools:base"), Player("m", "tools:all")]))
