#!/usr/bin/env bash
# Carries out the payments of its outbox, and may be killed at any moment: started again, it goes on. Exit code 0: nothing is open.
# 75: it gave up for now, and what is open is carried out at its next start. Needs sqlite3 beside the client's curl, openssl and jq.
#
#   yield-sandbox explore --crash --books 'bash outbox.sh' -- bash worker.sh
set -uo pipefail
ATTEMPTS=5 # the next start is the long patience
here=$(dirname "${BASH_SOURCE[0]}")
source "$here/../../clients/shell/yield-client.sh"
source "$here/outbox.sh"

USER_ID=customer-1 POOL=aave-usdc

# must <command …>: a request without which nothing goes on at this start.
must() {
  "$@" && return 0
  echo "not now: ${*:1:3}: $STATUS $CODE" >&2
  exit 75
}
# must_store <command …>: what cannot be written down ends it before anything is sent in reliance on it.
must_store() { "$@" || exit 1; }

# need_portfolio <user> <pool>: PORTFOLIO is the customer's in the pool, made under the key that is kept for it.
need_portfolio() {
  local key pool
  IFS=$'\t' read -r key PORTFOLIO <<<"$(portfolio_row "$1" "$2")"
  [[ $key ]] || exit 1
  [[ $PORTFOLIO ]] && return
  must list pools '' 100 pool_id
  pool=$(jq -c --arg id "$2" '.[] | select(.pool_id == $id) | {name: "Savings", chain_id, token_address, market_address, protocol}' <<<"$ITEMS")
  must send POST end_users '' '' "$(jq -cn --arg id "$1" '{external_id: $id}')"
  must send POST "end_users/$(url_part "$1")/portfolios" "$1" "$key" "$pool"
  PORTFOLIO=$(field portfolio_id)
  must_store opened "$1" "$2" "$PORTFOLIO"
}

# carry_out <number> <user> <pool> <type> <digits> <key>: only two answers close an order: success, and 422, which is the outcome of its
# key. Any other says nothing of what was asked for before.
carry_out() {
  need_portfolio "$2" "$3"
  # Sent again under the same key after a broken connection, half a body, 408, 409 in progress, 429 and 5xx; after 401 with a new token.
  if send POST "end_users/$(url_part "$2")/$4" "$2" "$6" "{\"portfolio_id\": \"$PORTFOLIO\", \"amount_minor\": \"$5\"}"; then
    must_store settle "$1" 'done' "$(field tx_hash)"
  elif [[ $STATUS == 422 && $CODE != idempotency_key_* ]]; then
    # To pay it all the same is a new order, for a person to give. A key that was taken for another payment is a mistake of ours.
    must_store settle "$1" failed "$CODE"
  else
    must false "order $1"
  fi
}

must_store take 1 "$USER_ID" "$POOL" deposit 250000000
must_store take 2 "$USER_ID" "$POOL" deposit 100000000
must_store take 3 "$USER_ID" "$POOL" withdraw 50000000

# In their order: a withdrawal may need the deposit before it. The first that stays open ends this start.
orders=$(must_store open_orders) || exit 1
while IFS=$'\t' read -r -a order; do
  [[ ${#order[@]} == 0 ]] || carry_out "${order[@]}"
done <<<"$orders"

# The balance, and whether the service has every order that is done here.
must list "end_users/$USER_ID/portfolios" "$USER_ID" 100 portfolio_id
jq -r --arg user "$USER_ID" '.[] | "\($user), \(.name): \(.total_balance)"' <<<"$ITEMS"
must list "end_users/$USER_ID/transactions" "$USER_ID" 100 id
code=0
while IFS=$'\t' read -r number hash; do
  [[ -z $number || $ITEMS == *"$hash"* ]] && continue
  echo "order $number is done here, and $hash is not in the list" >&2
  code=1
done <<<"$(done_orders)"
exit "$code"
