"""The cases of scipy's suite that do not hold for layoutc.ndimage, each with its reason."""

from __future__ import annotations

import re

GENERIC = "generic_filter calls Python for every element: not offered"

SKIPPED: tuple[tuple[str, str], ...] = (
    (r"TestNdimageFilters::test_generic_filter\w*\[.*", GENERIC),
    (r"TestVectorizedFilter::.*", GENERIC),
    (r"test_ticket_701\[.*", GENERIC),
    (r"test_valid_origins1\[.*", GENERIC),
)


def reason_of(case: str) -> str | None:
    """Why a case (``Class::test[parameters]``) is on the list, if it is."""
    return next((reason for pattern, reason in SKIPPED if re.fullmatch(pattern, case)), None)
