"""A small suite: moves some money of one end user and checks that every unit is where it should be.

    yield-sandbox exec --scenario dropped-deposit -- python3 examples/clients/python/demo.py
"""

import os
import sys
import time
import uuid

from yield_client import ApiError, YieldClient

WHOLE = 10**6
failures = 0


def check(what, holds):
    global failures
    failures += 0 if holds else 1
    print(f"{'ok' if holds else 'NOT OK'}: {what}", flush=True)


def new_attempt_when_reverted(transfer):
    """What a person would do who was told that it failed: try anew, which takes a fresh key."""
    try:
        return transfer()
    except ApiError as error:
        if error.code != "transaction_reverted":
            raise
        return transfer()


NAMES = ("base_url", "auth_url", "client_id", "client_secret", "scope", "audience", "issuer", "key_id", "private_key_pem")
client = YieldClient(
    **{name: os.environ[f"YIELD_{name.upper()}"] for name in NAMES},
    attempts=int(os.environ.get("DEMO_ATTEMPTS") or 12),
)
user = os.environ.get("YIELD_EXTERNAL_ID") or f"demo-{uuid.uuid4()}"

pool = next(one for one in list(client.pools(limit=2)) if one["token_symbol"] == "USDC")
client.create_end_user(user)
portfolio_id = client.create_portfolio(user, pool, "Rainy day")["portfolio_id"]

expected = {}
for amount in (250 * WHOLE, 100 * WHOLE, 50 * WHOLE):
    transfer = new_attempt_when_reverted(lambda: client.deposit(user, portfolio_id, amount))
    expected[transfer["tx_hash"]] = amount
transfer = new_attempt_when_reverted(lambda: client.withdraw(user, portfolio_id, 120 * WHOLE))
expected[transfer["tx_hash"]] = -120 * WHOLE

try:
    client.withdraw(user, portfolio_id, 10**15)
    refusal = None
except ApiError as error:
    refusal = error.code
check("more than there is cannot be withdrawn", str(refusal).startswith("insufficient_balance"))

time.sleep(float(os.environ.get("DEMO_PAUSE") or 3))  # long enough for an access token of a minute to become too old
portfolio = next(one for one in list(client.portfolios(user, limit=1)) if one["portfolio_id"] == portfolio_id)
moved = [one for one in client.transactions(user, limit=2) if one["portfolio_id"] == portfolio_id]
check("every transfer is listed once", len(moved) == len(expected))
check("every amount is right", all(int(one["amount_changed"]) == abs(expected.get(one["tx_hash"], 0)) for one in moved))
# Yield adds to it; the market rounds by a unit or two.
check("the balance is their sum", int(portfolio["total_balance"]) >= sum(expected.values()) - 5)

client.create_end_user(f"{user}-neighbour")
check("a neighbour has none of it", not list(client.transactions(f"{user}-neighbour")))
sys.exit(1 if failures else 0)
