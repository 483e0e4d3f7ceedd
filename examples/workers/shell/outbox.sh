# What the worker remembers: orders, each with its key, in SQLite. To be sourced; `bash outbox.sh` prints them, for --books.
#
# Every statement is a transaction of its own, none is open while a request is under way, and no row is ever claimed: two workers that take
# the same order send the same key, and the service carries it out once.

# One database for each partner application: WORKER_DIR, or the folder for temporary files, has it by its client id.
outbox=${WORKER_DIR:-${TMPDIR:-/tmp}}/worker-$YIELD_CLIENT_ID.db

# sql <options> <statements>: waits up to ten seconds for another worker's statement.
sql() { sqlite3 -bail -batch -cmd '.timeout 10000' "${@:1:$#-1}" "$outbox" "${@: -1}"; }

# quoted <text>: as a string of SQL.
quoted() { printf "'%s'" "${1//\'/\'\'}"; }

sql "
  CREATE TABLE IF NOT EXISTS portfolios (
    external_id TEXT, pool_id TEXT, idempotency_key TEXT NOT NULL, portfolio_id TEXT, PRIMARY KEY (external_id, pool_id));
  CREATE TABLE IF NOT EXISTS orders (
    id INTEGER PRIMARY KEY, external_id TEXT NOT NULL, pool_id TEXT NOT NULL, type TEXT NOT NULL, amount_minor TEXT NOT NULL,
    idempotency_key TEXT NOT NULL UNIQUE, state TEXT NOT NULL DEFAULT 'open', outcome TEXT)" || exit 1

# take <number> <user> <pool> <deposit|withdraw> <digits>: with a key; an order that is there keeps the key it has. Your application does
# this where it decides on the payment.
take() {
  sql "
    INSERT OR IGNORE INTO orders (id, external_id, pool_id, type, amount_minor, idempotency_key)
      VALUES ($1, $(quoted "$2"), $(quoted "$3"), $(quoted "$4"), $(quoted "$5"), '$(new_key)');
    INSERT OR IGNORE INTO portfolios (external_id, pool_id, idempotency_key) VALUES ($(quoted "$2"), $(quoted "$3"), '$(new_key)')"
}

# A line for each open order, the oldest first: number, user, pool, type, digits, key.
open_orders() {
  sql -separator $'\t' "SELECT id, external_id, pool_id, type, amount_minor, idempotency_key FROM orders WHERE state = 'open' ORDER BY id"
}
done_orders() { sql -separator $'\t' "SELECT id, outcome FROM orders WHERE state = 'done' ORDER BY id"; }

# settle <number> <done|failed> <hash, or code of the refusal>: an outcome is never replaced.
settle() { sql "UPDATE orders SET state = '$2', outcome = $(quoted "$3") WHERE id = $1 AND state = 'open'"; }

# portfolio_row <user> <pool>: its key, and its id once that is known.
portfolio_row() {
  sql -separator $'\t' "SELECT idempotency_key, portfolio_id FROM portfolios WHERE external_id = $(quoted "$1") AND pool_id = $(quoted "$2")"
}
opened() { sql "UPDATE portfolios SET portfolio_id = $(quoted "$3") WHERE external_id = $(quoted "$1") AND pool_id = $(quoted "$2")"; }

if [[ $0 == "${BASH_SOURCE[0]}" ]]; then
  rows=$(sql -json 'SELECT external_id, pool_id, type, amount_minor, state, idempotency_key FROM orders ORDER BY id')
  echo "{\"form\": 1, \"transfers\": ${rows:-[]}}"
fi
