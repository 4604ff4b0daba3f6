"""JSON whose bytes follow from the value, and files that carry a digest of themselves.

Unlike :func:`robustclevr.records.canonical_json` keys stay in their order, so that the nodes of a
DAG stand in a record as they are drawn and applied.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from robustclevr.errors import StoreError
from robustclevr.records import to_json

DIGEST_KEY = "digest"


def stable_json(value: Any) -> bytes:
    """Return ``value`` as compact JSON, keys in their own order, one newline at the end.

    Raises
    ------
    ValueError
        If a number is NaN or infinite, which JSON cannot say.
    """
    text = json.dumps(to_json(value), separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return text.encode() + b"\n"


def sealed_json(content: Mapping[str, Any]) -> bytes:
    """Return ``content`` as stable JSON, closed by the sha256 of the rest of itself."""
    plain = {key: value for key, value in content.items() if key != DIGEST_KEY}
    digest = hashlib.sha256(stable_json(plain)).hexdigest()
    return stable_json({**plain, DIGEST_KEY: digest})


def unseal_json(data: bytes, path: Path) -> dict[str, Any]:
    """Read what :func:`sealed_json` wrote, the digest left out.

    Raises
    ------
    StoreError
        If it is no JSON object, or was altered; names ``path``.
    """
    try:
        content = json.loads(data)
    except ValueError as error:
        raise StoreError(f"{path}: is not JSON: {error}") from error
    if not isinstance(content, dict) or not _is_sealed(content, data):
        raise StoreError(f"{path}: does not match its own digest: it was altered or cut short")
    content.pop(DIGEST_KEY, None)
    return content


def _is_sealed(content: dict[str, Any], data: bytes) -> bool:
    try:
        return sealed_json(content) == data
    except ValueError:  # a number or text that we never write
        return False
