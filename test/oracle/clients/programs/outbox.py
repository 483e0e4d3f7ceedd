"""A client with an outbox: orders and their keys are in sqlite before anything is sent, and a loop drains it. Needs requests.

    yield-sandbox exec --scenario dropped-deposit -- python3 test/oracle/clients/programs/outbox.py
"""

import os
import sqlite3
import sys
import time
import uuid

import requests

USER = "customer-1"
ORDERS = [("deposit", "250000000"), ("deposit", "100000000"), ("withdraw", "50000000")]
PASSING = {408, 429, 500, 502, 503, 504}

env = os.environ
base = f"{env['YIELD_BASE_URL']}/v1/partner"
http = requests.Session()
tokens = {}


def insist(ask):
    """For what this client is not about: tokens, the customer, her portfolio."""
    for attempt in range(1, 21):
        try:
            answer = ask()
            if answer.ok:
                return answer.json()
            if answer.status_code == 401:
                renew()
        except (requests.RequestException, ValueError):
            pass
        time.sleep(0.01 * attempt)
    sys.exit("no good answer after twenty attempts")


def renew():
    form = {"grant_type": "client_credentials", "client_id": env["YIELD_CLIENT_ID"],
            "client_secret": env["YIELD_CLIENT_SECRET"], "scope": env["YIELD_SCOPE"]}
    idp = insist(lambda: http.post(env["YIELD_AUTH_URL"], data=form))
    minted = http.post(f"{env['YIELD_CONTROL_URL']}/tenants/acme/user_tokens", json={"external_id": USER}).json()
    tokens.update({"Authorization": f"Bearer {idp['access_token']}", "X-User-Token": minted["token"]})


def make_portfolio():
    pools = insist(lambda: http.get(f"{base}/pools?limit=100", headers=tokens))["data"]
    pool = next(one for one in pools if one["pool_id"] == "aave-usdc")
    insist(lambda: http.post(f"{base}/end_users", json={"external_id": USER}, headers=tokens))
    names = ("chain_id", "token_address", "market_address", "protocol")
    place = {"name": "Savings", **{name: pool[name] for name in names}}
    headers = {"Idempotency-Key": str(uuid.uuid4())}
    path = f"{base}/end_users/{USER}/portfolios"
    return insist(lambda: http.post(path, json=place, headers={**tokens, **headers}))["portfolio_id"]


def send(kind, amount, key, portfolio_id):
    """Returns the state of the order after one attempt, and how long to wait before the next."""
    body = {"portfolio_id": portfolio_id, "amount_minor": amount}
    try:
        path = f"{base}/end_users/{USER}/{kind}"
        answer = http.post(path, json=body, headers={**tokens, "Idempotency-Key": key}, timeout=(10, 90))
        answer.json()
    except (requests.RequestException, ValueError):
        return "open", 0.02
    if answer.ok:
        return "done", 0
    if answer.status_code == 401:
        renew()
        return "denied", 0
    if answer.status_code in PASSING:
        return "open", float(answer.headers.get("Retry-After") or 0.02)
    return "failed", 0


renew()
portfolio_id = make_portfolio()
books = sqlite3.connect(env.get("OUTBOX") or ":memory:")
books.execute("create table if not exists orders (id integer primary key, kind, amount, key, state, denials default 0)")
for kind, amount in ORDERS:
    books.execute("insert into orders (kind, amount, key, state) values (?, ?, ?, 'open')", (kind, amount, str(uuid.uuid4())))
books.commit()

for attempt in range(8):
    due = books.execute("select id, kind, amount, key, denials from orders where state = 'open' order by id").fetchall()
    for number, kind, amount, key, denials in due:
        state, wait = send(kind, amount, key, portfolio_id)
        if state == "denied":
            state = "failed" if denials and not attempt > 1 else "open"
            books.execute("update orders set denials = denials + 1 where id = ?", (number,))
        books.execute("update orders set state = ? where id = ?", (state, number))
        books.commit()
        time.sleep(wait)

left = books.execute("select count(*) from orders where state = 'open'").fetchone()[0]
sys.exit(1 if left else 0)
