"""The table of the names in `graphwalk.extend`, for docs/extending.md: from the list in its docstring."""

from graphwalk import extend


def names_table() -> str:
    """Return a Markdown table: for what, and the names."""
    lines = ["| for | names |", "|---|---|"]
    for purpose, names in _groups().items():
        marked = ", ".join(f"`{name}`" for name in names)
        lines.append(f"| {purpose} | {marked} |")
    return "\n".join(lines)


def _groups() -> dict[str, list[str]]:
    """Return purpose → names."""
    groups: dict[str, list[str]] = {}
    purpose = ""
    for line in (extend.__doc__ or "").splitlines():
        is_list = line.startswith("    ")
        if not is_list:
            continue
        # "    export      Episodes", or "                check_store open_database": more names for the purpose above
        words = line.split()
        if line[4] != " ":
            purpose = words.pop(0)
        groups.setdefault(purpose, []).extend(words)
    return groups
