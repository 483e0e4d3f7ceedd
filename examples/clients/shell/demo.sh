#!/usr/bin/env bash
# A small suite: moves some money of one end user and checks that every unit is where it should be.
#
#   yield-sandbox exec --scenario dropped-deposit -- bash examples/clients/shell/demo.sh
set -uo pipefail
ATTEMPTS=${DEMO_ATTEMPTS:-12}
source "$(dirname "$0")/yield-client.sh"

failures=0
check() { # <what> <command …>
  local what=$1
  shift
  if "$@"; then echo "ok: $what"; else
    echo "NOT OK: $what"
    failures=1
  fi
}
must() {
  "$@" && return 0
  echo "failed: ${*:1:3}: $STATUS $CODE $(field detail) (request $(field request_id))" >&2
  exit 1
}
# What a person would do who was told that it failed: try anew, which takes a fresh key.
new_attempt_when_reverted() {
  "$@" && return 0
  [[ $CODE == transaction_reverted ]] && "$@"
}

user=${YIELD_EXTERNAL_ID:-demo-$(new_key)}
must list pools '' 2 pool_id
pool=$(jq -c 'first(.[] | select(.token_symbol == "USDC")) | {chain_id, token_address, market_address, protocol}' <<<"$ITEMS")
must send POST end_users '' '' "$(jq -cn --arg id "$user" '{external_id: $id}')"
must send POST "end_users/$(url_part "$user")/portfolios" "$user" "$(new_key)" "$(jq -c '. + {name: "Rainy day"}' <<<"$pool")"
portfolio=$(field portfolio_id)

expected='' sum=0
for amount in 250000000 100000000 50000000; do
  must new_attempt_when_reverted transfer deposit "$user" "$portfolio" "$amount"
  expected+="$TX_HASH $amount"$'\n' sum=$((sum + amount))
done
must new_attempt_when_reverted transfer withdraw "$user" "$portfolio" 120000000
expected+="$TX_HASH 120000000" sum=$((sum - 120000000))

transfer withdraw "$user" "$portfolio" 1000000000000000
check 'more than there is cannot be withdrawn' test "${CODE#insufficient_balance}" != "$CODE"

sleep "${DEMO_PAUSE:-3}" # long enough for an access token of a minute to become too old
must list "end_users/$(url_part "$user")/portfolios" "$user" 1 portfolio_id
balance=$(jq -r --arg id "$portfolio" '.[] | select(.portfolio_id == $id) | .total_balance' <<<"$ITEMS")
must list "end_users/$(url_part "$user")/transactions" "$user" 2 id
moved=$(jq -r --arg id "$portfolio" '.[] | select(.portfolio_id == $id) | "\(.tx_hash) \(.amount_changed)"' <<<"$ITEMS")
check 'every transfer is listed once' test "$(wc -l <<<"$moved")" -eq 4
check 'every amount is right' test "$(sort <<<"$moved")" = "$(sort <<<"$expected")"
# Yield adds to it; the market rounds by a unit or two.
check 'the balance is their sum' test "$balance" -ge $((sum - 5))

must send POST end_users '' '' "$(jq -cn --arg id "$user-neighbour" '{external_id: $id}')"
must list "end_users/$(url_part "$user-neighbour")/transactions" "$user-neighbour" 100 id
check 'a neighbour has none of it' test "$ITEMS" = '[]'
exit "$failures"
