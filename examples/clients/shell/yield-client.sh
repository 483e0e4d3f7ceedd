# A client of the Yield Portfolio Partner API for shell scripts: bash, curl, openssl, jq. To be sourced, with the YIELD_* variables set
# that `yield-sandbox exec` sets. Each request is a process, and a connection, of its own. jq 1.6 takes 30 ms to start (1.8: 5), so it is
# asked once for all that is wanted of an answer.
#
# A function that asks the service returns 0 after a success. It leaves the answer in STATUS (000: none that could be read), BODY and
# CODE, the error code.

ATTEMPTS=${ATTEMPTS:-12}      # how often a request is sent that gets no final answer
TIMEOUT=90                    # seconds to wait for an answer: a transfer may take a minute
LOOKS=30 LOOK_PAUSE=2         # a transfer of unknown outcome is looked for in the list for a minute
STATUS=000 BODY='' CODE='' REPEATED=0
TOLD=' '                      # hashes of transfers whose answers came
idp_token='' stale_at=0 user_token='' user_of_token='' user_token_stale_at=0

scratch=$(mktemp -d) && trap 'rm -rf "$scratch"' EXIT
(umask 077 && printf '%s\n' "$YIELD_PRIVATE_KEY_PEM" >"$scratch/key.pem")

# A UUID v4.
new_key() {
  local hex
  hex=$(openssl rand -hex 16)
  echo "${hex:0:8}-${hex:8:4}-4${hex:13:3}-a${hex:17:3}-${hex:20}"
}
url_part() {
  local LC_ALL=C # letters are those of ASCII
  if [[ $1 == *[!A-Za-z0-9._~-]* ]]; then jq -rn --arg text "$1" '$text | @uri'; else echo "$1"; fi
}
field() { jq -r --arg name "$1" '.[$name] // empty' <<<"$BODY"; }

# exchange <curl arguments>: one request. Headers come on standard input, so that no secret is on a command line.
exchange() {
  local parts
  BODY='' CODE=''
  STATUS=$(curl -sS -o "$scratch/body" -D "$scratch/head" -w '%{http_code}' --connect-timeout 10 --max-time "$TIMEOUT" "$@" 2>"$scratch/why") ||
    STATUS=000
  if [[ $STATUS != 000 ]] && parts=$(jq -re 'objects | tojson, "code \(.code // .error // "")"' "$scratch/body" 2>/dev/null); then
    BODY=${parts%%$'\n'*} CODE=${parts#*$'\n'code }
  elif [[ $STATUS == 2* ]]; then
    STATUS=000 # half of a body
  fi
  [[ $STATUS == 2* ]]
}

# The same request may succeed later.
may_pass() { [[ $STATUS =~ ^(000|408|429|500|502|503|504)$ || $CODE == idempotency_key_in_progress ]]; }

# What the service asks for (seconds or a date), else 0.25, 0.5, 1, 2, 4, 4, … s.
pause_after() {
  local asked='' until pauses=(0.25 0.5 1 2 4)
  [[ $STATUS == 000 ]] || asked=$(tr -d '\r' <"$scratch/head" | sed -n 's/^[Rr]etry-[Aa]fter: *//p' | tail -n 1)
  if [[ $asked =~ ^[0-9]+$ ]]; then
    sleep "$asked.1"
  elif [[ $asked ]] && until=$(date -d "$asked" +%s 2>/dev/null); then
    sleep $((until > $(date +%s) ? until - $(date +%s) + 1 : 0))
  else
    sleep "${pauses[$1 < 5 ? $1 - 1 : 4]}"
  fi
}

# with_retries <command …>: until there is a final answer. REPEATED is 1 when an attempt before it got none.
with_retries() {
  local attempt
  for ((attempt = 1; ; attempt++)); do
    "$@" && return 0
    may_pass && ((attempt < ATTEMPTS)) || { REPEATED=$((attempt > 1)) && return 1; }
    pause_after "$attempt"
  done
}

fetch_idp_token() {
  local form
  form="grant_type=client_credentials&client_id=$(url_part "$YIELD_CLIENT_ID")&client_secret=$(url_part "$YIELD_CLIENT_SECRET")&scope=$(url_part "$YIELD_SCOPE")"
  exchange "$YIELD_AUTH_URL" --data @- <<<"$form"
}

# Cached until 60 seconds before it expires.
need_idp_token() {
  [[ $idp_token ]] && ((SECONDS < stale_at)) && return 0
  local asked=$SECONDS lifetime
  with_retries fetch_idp_token || return 1
  read -r idp_token lifetime <<<"$(jq -r '"\(.access_token) \(.expires_in)"' <<<"$BODY")"
  stale_at=$((asked + lifetime - 61)) # SECONDS has no fractions
}

# need_user_token <external_id>: signed with the partner's key, kept until five minutes before its hour is over.
need_user_token() {
  [[ $user_of_token == "$1" ]] && ((SECONDS < user_token_stale_at)) && return 0
  local signed
  signed=$(jq -rn --arg kid "$YIELD_KEY_ID" --arg sub "$1" --arg iss "$YIELD_ISSUER" --arg aud "$YIELD_AUDIENCE" '
    def part: tojson | @base64 | gsub("\\+"; "-") | gsub("/"; "_") | gsub("="; "");
    (now | floor) as $now
    | ({alg: "RS256", kid: $kid, typ: "JWT"} | part) + "." + ({sub: $sub, iss: $iss, aud: $aud, iat: $now, exp: ($now + 3600)} | part)')
  user_token=$signed.$(printf %s "$signed" | openssl dgst -sha256 -sign "$scratch/key.pem" | openssl base64 -A | tr '+/' '-_' | tr -d '=')
  user_of_token=$1 user_token_stale_at=$((SECONDS + 3300))
}

# send_once <method> <path> <user or ''> <key or ''> <body or ''>
send_once() {
  local method=$1 path=$2 user=$3 key=$4 body=$5 headers
  need_idp_token || return 1
  headers="Authorization: Bearer $idp_token"
  if [[ $user ]]; then need_user_token "$user" && headers+=$'\n'"X-User-Token: $user_token"; fi
  [[ $key ]] && headers+=$'\n'"Idempotency-Key: $key"
  local data=()
  [[ $body ]] && headers+=$'\nContent-Type: application/json' && data=(--data "$body")
  exchange -X "$method" "$YIELD_BASE_URL/v1/partner/$path" -H @- "${data[@]}" <<<"$headers"
}

# A token that is refused is renewed once, and the request repeated as it was.
send_with_tokens() {
  send_once "$@" && return 0
  case $CODE in
    invalid_idp_token) idp_token='' ;;
    invalid_user_token) user_of_token='' ;;
    *) return 1 ;;
  esac
  send_once "$@"
}

# send <method> <path> <user> <key> <body>: retries keep the key, so whatever became of the first request happens once.
send() { with_retries send_with_tokens "$@"; }

# list <path> <user> <limit> <id field>: every item once into ITEMS, an array of JSON objects; from the first page again when the
# cursor has expired. Cursors are passed on as they came.
list() {
  local path=$1 user=$2 limit=$3 id=$4 cursor='' restarts=0 pages=''
  while true; do
    if send GET "$path?limit=$limit${cursor:+&starting_after=$(url_part "$cursor")}" "$user" '' ''; then
      pages+=$BODY$'\n'
      cursor=$(field next_cursor)
      [[ $cursor ]] || break
    elif [[ $CODE == cursor_expired && $cursor ]] && ((++restarts <= 3)); then
      cursor=''
    else
      return 1
    fi
  done
  ITEMS=$(jq -cn --arg id "$id" 'reduce (inputs.data[]) as $one ([]; if any(.[]; .[$id] == $one[$id]) then . else . + [$one] end)' <<<"$pages")
}

# transfer <deposit|withdraw> <user> <portfolio_id> <digits> [key]: TX_HASH when it is confirmed. Returns 1 when it was refused, 2 when
# nobody can say what became of it: then repeat it under the same KEY until it returns 0 or STATUS is 422, never under a fresh one.
transfer() {
  local kind=$1 user=$2 portfolio=$3 amount=$4 look
  KEY=${5:-$(new_key)} TX_HASH=''
  if send POST "end_users/$(url_part "$user")/$kind" "$user" "$KEY" "{\"portfolio_id\": \"$portfolio\", \"amount_minor\": \"$amount\"}"; then
    TX_HASH=$(field tx_hash)
    TOLD+="$TX_HASH "
    return 0
  fi
  # A refusal such as 401 says nothing of an earlier attempt that was lost: only 422 is the outcome of a key.
  may_pass || return $((REPEATED && STATUS != 422 ? 2 : 1))
  # It is listed once it is confirmed: not there yet does not mean never.
  for ((look = 0; look < LOOKS; look++)); do
    ((look > 0)) && sleep "$LOOK_PAUSE"
    send GET "end_users/$(url_part "$user")/transactions?limit=100" "$user" '' '' || { may_pass && continue || return 2; }
    TX_HASH=$(jq -r --arg kind "$kind" --arg jar "$portfolio" --arg amount "$amount" --arg told "$TOLD" '
      first(.data[] | select(.portfolio_id == $jar and (.type | startswith($kind)) and .amount_changed == $amount)
        | .tx_hash | select(. as $hash | $told | contains(" \($hash) ") | not)) // empty' <<<"$BODY")
    if [[ $TX_HASH ]]; then
      TOLD+="$TX_HASH "
      return 0
    fi
  done
  return 2
}
