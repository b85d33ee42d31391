"""Reads a dashboard into the types that Grafana's own schema became, writes it anew, and tells
whatever was lost or became another value on the way: `python grafana.py path.json`."""

import json
import sys

from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.models.dashboard import Dashboard


def lost(before, after, place):
    """Places of what is not there any more; the types may add what holds where nothing is said."""
    if isinstance(before, dict) and isinstance(after, dict):
        for key, value in before.items():
            yield from lost(value, after.get(key), f"{place}/{key}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after)):
            yield from lost(one, other, f"{place}/{number}")
    elif before != after:
        yield f"{place}: {json.dumps(before)} became {json.dumps(after)}"


with open(sys.argv[1], encoding="utf-8") as file:
    written = json.load(file)
again = json.loads(JSONEncoder().encode(Dashboard.from_json(written)))
found = list(lost(written, again, ""))
print("\n".join(found))
sys.exit(1 if found else 0)
