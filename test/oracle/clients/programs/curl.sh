#!/usr/bin/env bash
# A client of curl and jq: curl repeats what may pass, under the key that it was given.
set -uo pipefail
USER_ID=customer-1
base=$YIELD_BASE_URL/v1/partner
pass=(--silent --show-error --retry 8 --retry-all-errors --max-time 90)

renew() {
  local form=(-d grant_type=client_credentials --data-urlencode "client_id=$YIELD_CLIENT_ID"
    --data-urlencode "client_secret=$YIELD_CLIENT_SECRET" --data-urlencode "scope=$YIELD_SCOPE")
  idp=$(insist "${form[@]}" "$YIELD_AUTH_URL" | jq -r .access_token)
  user=$(curl -s "$YIELD_CONTROL_URL/tenants/acme/user_tokens" --json "{\"external_id\": \"$USER_ID\"}" | jq -r .token)
  tokens=(-H "Authorization: Bearer $idp" -H "X-User-Token: $user")
}

# For what this client is not about: a good answer, and a whole one.
insist() {
  local attempt answer
  for attempt in 1 2 3 4 5 6 7 8; do
    answer=$(curl -s --fail "$@") && jq -e . > /dev/null 2>&1 <<< "$answer" && break
    sleep "0.0$attempt"
  done
  echo "$answer"
}

# order <deposit|withdraw> <amount>: 0 when there is a final answer.
order() {
  local key body attempt answer status renewed=
  key=$(cat /proc/sys/kernel/random/uuid)
  body="{\"portfolio_id\": \"$portfolio\", \"amount_minor\": \"$2\"}"
  for attempt in 1 2 3 4; do
    answer=$(curl "${pass[@]}" -w '\n%{http_code}' "${tokens[@]}" -H "Idempotency-Key: $key" --json "$body" \
      "$base/end_users/$USER_ID/$1" 2> /dev/null)
    status=${answer##*$'\n'}
    jq -e . > /dev/null 2>&1 <<< "${answer%$'\n'*}" || continue
    case $status in
      2??) return 0 ;;
      401) [ "$renewed" ] && return 0 || { renewed=yes; renew; } ;;
      408 | 429 | 5??) ;;
      4??) return 0 ;;
    esac
  done
  return 1
}

renew
# A token may be refused although it is new.
if ! pools=$(curl -s --fail "${tokens[@]}" "$base/pools?limit=100"); then
  renew
  pools=$(insist "${tokens[@]}" "$base/pools?limit=100")
fi
jq -e . > /dev/null 2>&1 <<< "$pools" || pools=$(insist "${tokens[@]}" "$base/pools?limit=100")
pool=$(jq '.data[] | select(.pool_id == "aave-usdc")' <<< "$pools")
insist "${tokens[@]}" "$base/end_users" --json "{\"external_id\": \"$USER_ID\"}" > /dev/null
place=$(jq '{name: "Savings", chain_id, token_address, market_address, protocol}' <<< "$pool")
portfolio=$(insist "${tokens[@]}" -H "Idempotency-Key: $(cat /proc/sys/kernel/random/uuid)" --json "$place" \
  "$base/end_users/$USER_ID/portfolios" | jq -r .portfolio_id)
open=0
order deposit 250000000 || open=1
order deposit 100000000 || open=1
order withdraw 50000000 || open=1
exit $open
