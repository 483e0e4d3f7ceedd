"""A world of its own for each test, by one call; it is gone when the test is over.

    yield-sandbox                                                       # in one terminal
    python3 -m pytest examples/clients/python                           # in another
    yield-sandbox exec -- python3 -m pytest examples/clients/python     # or both at once
"""

import os
import pathlib
import sys
import uuid

import pytest
import requests

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent))
from yield_client import YieldClient  # noqa: E402

CONTROL_URL = os.environ.get("YIELD_CONTROL_URL", "http://127.0.0.1:4010/_sandbox")
NAMES = ("base_url", "auth_url", "client_id", "client_secret", "scope", "audience", "issuer", "key_id", "private_key_pem")


class Sandbox:
    """What a test has of it: a client of its own, and what may go wrong."""

    def __init__(self, control_url, settings):
        self._control_url = control_url
        self.client = YieldClient(**settings)

    def fault(self, **rule):
        _control("POST", f"{self._control_url}/faults", rule)


@pytest.fixture
def sandbox():
    # exec and explore give a world already: requests elsewhere would not be judged.
    if "YIELD_CLIENT_ID" in os.environ:
        yield Sandbox(CONTROL_URL, {name: os.environ[f"YIELD_{name.upper()}"] for name in NAMES})
        return
    made = _control("POST", f"{CONTROL_URL}/namespaces", {"confirmation_delay": "0"}).json()
    tenant = made["tenants"][0]
    given = {**made, **tenant, "key_id": tenant["kid"]}
    yield Sandbox(made["control_url"], {name: given[name] for name in NAMES})
    _control("DELETE", made["control_url"])


@pytest.fixture
def saver(sandbox):
    """A new end user, and the id of a portfolio of USDC."""
    user = f"saver-{uuid.uuid4()}"
    sandbox.client.create_end_user(user)
    pool = next(one for one in sandbox.client.pools() if one["token_symbol"] == "USDC")
    return user, sandbox.client.create_portfolio(user, pool, "Rainy day")["portfolio_id"]


def _control(method, url, body=None):
    headers = {"Authorization": f"Bearer {os.environ.get('YIELD_SANDBOX_CONTROL_TOKEN', '')}"}
    response = requests.request(method, url, json=body, headers=headers, timeout=90)
    assert response.ok, response.text
    return response
