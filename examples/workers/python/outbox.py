"""What the worker remembers: orders, each with its key, in SQLite. `python3 outbox.py` prints them, for --books."""

import json
import os
import sqlite3
import tempfile
import uuid

TABLES = """
CREATE TABLE IF NOT EXISTS portfolios (
  external_id TEXT, pool_id TEXT, idempotency_key TEXT NOT NULL, portfolio_id TEXT, PRIMARY KEY (external_id, pool_id));
CREATE TABLE IF NOT EXISTS orders (
  id INTEGER PRIMARY KEY, external_id TEXT NOT NULL, pool_id TEXT NOT NULL, type TEXT NOT NULL, amount_minor TEXT NOT NULL,
  idempotency_key TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT 'open', outcome TEXT);
"""
BOOK = "external_id, pool_id, type, amount_minor, state, idempotency_key"


class Outbox:
    """Every statement is a transaction of its own, none is open while a request is under way, and no row is ever claimed: two workers
    that take the same order send the same key, and the service carries it out once."""

    def __init__(self, file=None):
        """One database for each partner application: WORKER_DIR, or the folder for temporary files, has it by its client id."""
        folder = os.environ.get("WORKER_DIR") or tempfile.gettempdir()
        file = file or os.path.join(folder, f"worker-{os.environ['YIELD_CLIENT_ID']}.db")
        self._db = sqlite3.connect(file, timeout=10, isolation_level=None)  # None: no transaction of Python's own
        self._db.row_factory = sqlite3.Row
        for table in TABLES.split(";"):
            self._db.execute(table)

    def take(self, number, user, pool, kind, amount):
        """Takes an order down with a key; one that is there keeps the key it has. Your application does this where it decides on it."""
        self._db.execute("INSERT OR IGNORE INTO orders (id, external_id, pool_id, type, amount_minor, idempotency_key)"
                         " VALUES (?, ?, ?, ?, ?, ?)", (number, user, pool, kind, str(amount), str(uuid.uuid4())))
        self._db.execute("INSERT OR IGNORE INTO portfolios (external_id, pool_id, idempotency_key) VALUES (?, ?, ?)",
                         (user, pool, str(uuid.uuid4())))

    def orders(self, state):
        """The oldest first."""
        return self._db.execute("SELECT * FROM orders WHERE state = ? ORDER BY id", (state,)).fetchall()

    def settle(self, number, state, outcome):
        """`outcome`: the hash, or the code of the refusal. An outcome is never replaced."""
        self._db.execute("UPDATE orders SET state = ?, outcome = ? WHERE id = ? AND state = 'open'", (state, outcome, number))

    def portfolio(self, user, pool):
        """`portfolio_id` is None until it is known."""
        return self._db.execute("SELECT idempotency_key, portfolio_id FROM portfolios WHERE external_id = ? AND pool_id = ?",
                                (user, pool)).fetchone()

    def opened(self, user, pool, portfolio_id):
        self._db.execute("UPDATE portfolios SET portfolio_id = ? WHERE external_id = ? AND pool_id = ?",
                         (portfolio_id, user, pool))

    def books(self):
        return [dict(row) for row in self._db.execute(f"SELECT {BOOK} FROM orders ORDER BY id")]


if __name__ == "__main__":
    print(json.dumps({"form": 1, "transfers": Outbox().books()}))
