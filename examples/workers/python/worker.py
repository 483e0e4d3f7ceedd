"""Carries out the payments of its outbox, and may be killed at any moment: started again, it goes on. Exit code 0: nothing is open.
75: it gave up for now, and what is open is carried out at its next start.

    yield-sandbox explore --crash --books 'python3 outbox.py' -- python3 worker.py
"""

import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "clients" / "python"))
from yield_client import ApiError, NoAnswer, OutcomeUnknown, YieldClient  # noqa: E402

from outbox import Outbox  # noqa: E402

USER, POOL = "customer-1", "aave-usdc"
ORDERS = ((1, "deposit", 250_000_000), (2, "deposit", 100_000_000), (3, "withdraw", 50_000_000))
NAMES = ("base_url", "auth_url", "client_id", "client_secret", "scope", "audience", "issuer", "key_id", "private_key_pem")


class Worker:
    def __init__(self, client, outbox):
        self._client, self._outbox = client, outbox

    def run(self):
        # In their order: a withdrawal may need the deposit before it. The first that stays open ends this start.
        for order in self._outbox.orders("open"):
            self._carry_out(order)
        return self._compare_with_service()

    def _carry_out(self, order):
        """Only two answers close an order: success, and 422, which is the outcome of its key. Any other says nothing of what was
        asked for before."""
        body = {"portfolio_id": self._portfolio_of(order), "amount_minor": order["amount_minor"]}
        user, key = order["external_id"], order["idempotency_key"]
        try:
            # Sent again under the same key after a broken connection, half a body, 408, 409 in progress, 429 and 5xx; after 401 with a
            # new token.
            answer = self._client.send("POST", f"end_users/{user}/{order['type']}", user, key=key, body=body)
            self._outbox.settle(order["id"], "done", answer["tx_hash"])
        except ApiError as error:
            # A key that was taken for another payment is a mistake of ours, and no outcome of this one.
            if error.status != 422 or str(error.code).startswith("idempotency_key_"):
                raise
            # To pay it all the same is a new order, for a person to give.
            self._outbox.settle(order["id"], "failed", error.code)

    def _portfolio_of(self, order):
        """The customer's portfolio in the pool, made under the key that is kept for it."""
        user, pool_id = order["external_id"], order["pool_id"]
        known = self._outbox.portfolio(user, pool_id)
        if known["portfolio_id"] is not None:
            return known["portfolio_id"]
        pool = next(one for one in list(self._client.pools()) if one["pool_id"] == pool_id)
        self._client.create_end_user(user)
        made = self._client.create_portfolio(user, pool, "Savings", key=known["idempotency_key"])
        self._outbox.opened(user, pool_id, made["portfolio_id"])
        return made["portfolio_id"]

    def _compare_with_service(self):
        """Prints the balance, and complains of an order that is done here and that the service does not have."""
        for portfolio in self._client.portfolios(USER):
            print(f"{USER}, {portfolio['name']}: {portfolio['total_balance']}", flush=True)
        listed = {one["tx_hash"] for one in self._client.transactions(USER)}
        missing = [order for order in self._outbox.orders("done") if order["outcome"] not in listed]
        for order in missing:
            print(f"order {order['id']} is done here, and {order['outcome']} is not in the list", file=sys.stderr)
        return 1 if missing else 0


# The next start is the long patience.
client = YieldClient(**{name: os.environ[f"YIELD_{name.upper()}"] for name in NAMES}, attempts=5)
outbox = Outbox()
for number, kind, amount in ORDERS:
    outbox.take(number, USER, POOL, kind, amount)
try:
    sys.exit(Worker(client, outbox).run())
except (ApiError, NoAnswer, OutcomeUnknown) as error:
    print(f"not now: {error}", file=sys.stderr)
    sys.exit(75)
