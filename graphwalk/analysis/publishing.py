"""Publish a run: write it into one ZIP file, unless it contains a secret."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from graphwalk.config.templates import PROMPT_SETS, render_page
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import encode_line, read_lines
from graphwalk.files.writing import new_file
from graphwalk.runs.folder import RunFolder
from graphwalk.runs.published import DIGESTS, TEXTS
from graphwalk.sanitise import Secrets, one_line


def publish(folder: RunFolder, out: Path, secrets: Secrets, done: Callable[[], object] = lambda: None) -> None:
    """Write a run into `out`, a ZIP file with reproducible bytes. `done` is called after each result.

    Raise RunLogError if a log is damaged, or if one of the secrets is in the run; no file is left then.
    """
    with folder.lock():
        manifest = folder.read_manifest()
        readme = _readme(manifest, folder.results_digest())
        parts: dict[str, Iterable[bytes]] = {
            "README.md": [readme.encode(), b"\n"],
            "run.json": [_checked(json.dumps(manifest, indent=2).encode(), "run.json", secrets), b"\n"],
            "results.jsonl": _lines(read_lines(folder.results_path), "results.jsonl", secrets, done),
            "replies.jsonl": _lines(folder.replies(), "replies.jsonl", secrets),
        }
        for text_name, text in folder.read_texts().items():
            name = f"{TEXTS}/{text_name}"
            parts[name] = [_checked(text.encode(), name, secrets)]
        with new_file(out, error=RunLogError) as file:
            _write(file, parts)


def _readme(manifest: Mapping[str, Any], digest: str) -> str:
    config = manifest["config"]
    names = config["names"]
    models = []
    for model in config["models"]:
        # Walker (openai/gpt-4.1), or openai/gpt-4.1 without a name
        models.append(f"{names[model]} ({model})" if model in names else model)
    return render_page(
        "publish/README.md.j2",
        manifest=manifest,
        name=one_line(manifest["name"]),
        models=one_line(", ".join(models)),
        settings=one_line(", ".join(config["settings"])),
        description=one_line(config["description"], 1000),
        own_prompts=config["agent"]["prompts"] not in (None, *PROMPT_SETS),
        episodes=manifest["fingerprint"]["episodes"],
        digests=DIGESTS,
        digest=digest,
    )


def _lines(
    records: Iterable[dict[str, Any]],
    name: str,
    secrets: Secrets,
    done: Callable[[], object] = lambda: None,
) -> Iterator[bytes]:
    for number, record in enumerate(records, 1):
        yield _checked(encode_line(record), f"{name}:{number}", secrets)
        done()


def _checked(content: bytes, place: str, secrets: Secrets) -> bytes:
    """Return the content of a file. Raise RunLogError if a secret is in it."""
    variable = secrets.variable_in(content.decode())
    if variable:
        raise RunLogError(
            f"the run cannot be published: {place} contains the value of {variable}",
            hint=f"remove it there; if it is an ordinary word: env -u {variable} graphwalk publish …",
        )
    return content


def _write(file: BinaryIO, parts: Mapping[str, Iterable[bytes]]) -> None:
    sums = []
    with ZipFile(file, "w") as archive:
        for name in sorted(parts):
            digest = hashlib.sha256()
            with archive.open(_entry(name), "w", force_zip64=True) as entry:
                for block in parts[name]:
                    digest.update(block)
                    entry.write(block)
            sums.append(f"{digest.hexdigest()}  {name}\n")
        archive.writestr(_entry(DIGESTS), "".join(sums))


def _entry(name: str) -> ZipInfo:
    """Return an entry without time and owner, so that the same run gives the same bytes."""
    entry = ZipInfo(name)
    entry.compress_type = ZIP_DEFLATED
    # A file of a Unix system (3) that its owner may write and all may read.
    entry.create_system = 3
    entry.external_attr = 0o644 << 16
    return entry
