"""Publish a run: write it into one ZIP file, without secrets and traces of this machine."""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile, ZipInfo

from graphwalk.config.jinja import render_page
from graphwalk.errors import RunLogError
from graphwalk.files.json_lines import compressed, encode_line, read_lines
from graphwalk.files.writing import new_file
from graphwalk.runs.folder.published import DIGESTS, TEXTS
from graphwalk.runs.folder.run_folder import RunFolder, read_kept
from graphwalk.sanitise import Cleaner, one_line


def publish(
    folder: RunFolder, out: Path, cleaner: Cleaner, done: Callable[[], object] = lambda: None
) -> dict[str, int]:
    """Write a run into `out`, a ZIP file with reproducible bytes. Return the number of removals by kind.

    `done` is called after each result. Raise RunLogError if a log is damaged, or for secrets that the cleaner may not
    remove; no file is left then.
    """
    with folder.lock():
        stored = folder.read_manifest()
        cleaner.know_credentials(stored)
        manifest = cleaner.manifest(stored)
        names = manifest["config"].get("names", {})
        readme = render_page(
            "publish/README.md.j2",
            manifest=manifest,
            name=one_line(manifest["name"]),
            models=one_line(", ".join(f"{names[m]} ({m})" if m in names else m for m in manifest["config"]["models"])),
            settings=one_line(", ".join(manifest["config"]["settings"])),
            episodes=(manifest["fingerprint"] or {}).get("episodes", "?"),
            digests=DIGESTS,
            digest=folder.results_digest(),
        )
        parts: dict[str, Iterable[bytes]] = {
            "README.md": [readme.encode(), b"\n"],
            "run.json": [json.dumps(manifest, indent=2).encode(), b"\n"],
            "results.jsonl.gz": compressed(
                _lines(read_lines(folder.results_path), "results.jsonl", cleaner.record, done)
            ),
            "replies.jsonl": _lines(folder.replies(), "replies.jsonl", cleaner.reply),
        }
        for path in sorted(folder.texts_path.rglob("*")):
            if path.is_file():
                name = f"{TEXTS}/{path.relative_to(folder.texts_path).as_posix()}"
                parts[name] = [cleaner.text(read_kept(path), name).encode()]
        with new_file(out, error=RunLogError) as file:
            _write(file, parts)
            if secrets := cleaner.refused:
                shown = "\n".join(f"  {one.place}: {one.what}, {one.shown}" for one in secrets[:10])
                more = f"\n  … and {len(secrets) - 10} more" if len(secrets) > 10 else ""
                raise RunLogError(
                    f"cannot write {out}: the run contains secrets\n{shown}{more}",
                    hint="check these places; --redact replaces secrets by ***",
                )
    return cleaner.removed


def _lines(
    records: Iterable[dict[str, Any]],
    name: str,
    clean: Callable[[dict[str, Any], str], dict[str, Any]],
    done: Callable[[], object] = lambda: None,
) -> Iterator[bytes]:
    for number, record in enumerate(records, 1):
        yield encode_line(clean(record, f"{name}:{number}"))
        done()


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
    entry.compress_type = ZIP_STORED if name.endswith(".gz") else ZIP_DEFLATED
    entry.external_attr, entry.create_system = 0o644 << 16, 3
    return entry
