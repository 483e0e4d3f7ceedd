import type { Credentials, TenantCredentials } from '../control/contract.ts'
import type { Pool } from '../domain/records.ts'

/** Whole tokens of the first deposit. */
const TOKENS = 250n
/** Seconds that the texts wait for an answer (spec: endpoint 5, rule 1: at least 60). */
const TIMEOUT_SECONDS = 90
/** End user of the first deposit. A tenant that has end users but not this one makes it for its first one. */
const USUAL_END_USER = 'alice'

/** A first request in three languages. */
type FirstRequest = NonNullable<TenantCredentials['first_request']>
type TenantFacts = Omit<TenantCredentials, 'first_request'>

/**
 * Texts that make a first deposit when they are pasted as they are, also for the second time: tokens, end user, portfolio in the pool,
 * 250 tokens. The user token comes from the control interface, whose token, if it needs one, the texts take from `CONTROL_TOKEN`.
 */
export function firstRequest(credentials: Omit<Credentials, 'tenants'>, tenant: TenantFacts, pool: Pool): FirstRequest {
  const facts = factsOf(credentials, tenant, pool)
  return { curl: curlText(facts), typescript: typescriptText(facts), python: pythonText(facts) }
}

/** Values in the texts, not quoted yet. */
interface Facts {
  token_url: string
  minting_url: string
  end_users_url: string
  end_user_url: string
  form: Record<'grant_type' | 'client_id' | 'client_secret' | 'scope', string>
  external_id: string
  portfolio: Record<string, string>
  amount_minor: string
  ca_file: string | undefined
  needs_control_token: boolean
}

function factsOf(credentials: Omit<Credentials, 'tenants'>, tenant: TenantFacts, pool: Pool): Facts {
  const { base_url, auth_url, control_url, scope, ca_file, control_token } = credentials
  const { client_id, client_secret, slug, end_users } = tenant
  const [first = USUAL_END_USER] = end_users
  const external_id = end_users.includes(USUAL_END_USER) ? USUAL_END_USER : first
  const { chain_id, token_address, market_address, protocol } = pool
  const end_users_url = `${base_url}/v1/partner/end_users`
  return {
    token_url: auth_url,
    minting_url: `${control_url}/tenants/${encodeURIComponent(slug)}/user_tokens`,
    end_users_url,
    end_user_url: `${end_users_url}/${encodeURIComponent(external_id)}`,
    form: { grant_type: 'client_credentials', client_id, client_secret, scope },
    external_id,
    portfolio: { name: 'First portfolio', chain_id, token_address, market_address, protocol },
    amount_minor: (TOKENS * 10n ** BigInt(pool.token_decimals)).toString(),
    ca_file,
    needs_control_token: control_token !== undefined,
  }
}

/**
 * For a POSIX shell with curl and sed. A subshell, since a failure must not end the shell in which it is pasted; no comment, since an
 * interactive zsh does not know comments.
 */
function curlText(facts: Facts): string {
  const { external_id, portfolio, amount_minor, ca_file } = facts
  const trust = ca_file === undefined ? '' : ` --cacert ${shell(ca_file)}`
  const form = Object.entries(facts.form).map(([name, value]) => `--data-urlencode ${shell(`${name}=${value}`)}`)
  const control = facts.needs_control_token
    ? ` \\\n  -H "Authorization: Bearer \${CONTROL_TOKEN:?is the token of the control interface}"`
    : ''
  return `(
set -e
ask() {
  answer=$(curl -sS --fail-with-body --max-time ${TIMEOUT_SECONDS}${trust} "$@") || { printf '%s\\n' "$answer" >&2; exit 1; }
  printf '%s\\n' "$answer"
}
take() {
  field=$1
  shift
  answer=$(ask "$@") || exit 1
  printf '%s\\n' "$answer" | sed -n 's/.*"'"$field"'": *"\\([^"]*\\)".*/\\1/p'
}
uuid() {
  od -An -N16 -tx1 /dev/urandom | sed 's/ //g; s/^\\(.\\{8\\}\\)\\(.\\{4\\}\\).\\(...\\).\\(...\\)/\\1-\\2-4\\3-a\\4-/'
}
json='Content-Type: application/json'
token=$(take access_token ${shell(facts.token_url)} \\
  ${form.join(' \\\n  ')})
user_token=$(take token ${shell(facts.minting_url)}${control} \\
  -H "$json" -d ${shell(json({ external_id }))})
ask ${shell(facts.end_users_url)} -H "Authorization: Bearer $token" -H "Idempotency-Key: $(uuid)" -H "$json" \\
  -d ${shell(`${unclosed(json({ external_id }))},"user_jwt":"`)}"$user_token"'"}' >/dev/null
portfolio_id=$(take portfolio_id ${shell(`${facts.end_user_url}/portfolios`)} \\
  -H "Authorization: Bearer $token" -H "X-User-Token: $user_token" -H "Idempotency-Key: $(uuid)" -H "$json" \\
  -d ${shell(json(portfolio))})
ask ${shell(`${facts.end_user_url}/deposit`)} \\
  -H "Authorization: Bearer $token" -H "X-User-Token: $user_token" -H "Idempotency-Key: $(uuid)" -H "$json" \\
  -d ${shell(`${unclosed(json({ amount_minor }))},"portfolio_id":"`)}"$portfolio_id"'"}'
)
`
}

/** For Node, as an .mjs file or a TypeScript module: the defaults of the parameters are their types. */
function typescriptText(facts: Facts): string {
  const { ca_file } = facts
  const trust =
    ca_file === undefined
      ? ''
      : `// Node trusts the sandbox if it is started with NODE_EXTRA_CA_CERTS=${shell(ca_file)}\n`
  const control = facts.needs_control_token ? `, { Authorization: \`Bearer \${process.env.CONTROL_TOKEN}\` }` : ''
  return `${trust}const externalId = ${json(facts.external_id)}

async function post(url = '', body = {}, headers = {}) {
  const isForm = body instanceof URLSearchParams
  const response = await fetch(url, {
    method: 'POST',
    headers: isForm ? headers : { 'Content-Type': 'application/json', ...headers },
    body: isForm ? body : JSON.stringify(body),
    signal: AbortSignal.timeout(${TIMEOUT_SECONDS}_000),
  })
  const text = await response.text()
  if (!response.ok) throw new Error(\`\${response.status} \${text}\`)
  return JSON.parse(text)
}

const form = new URLSearchParams(${json(facts.form, 2)})
const { access_token } = await post(${json(facts.token_url)}, form)
const { token } = await post(${json(facts.minting_url)}, { external_id: externalId }${control})

const headers = () => ({
  Authorization: \`Bearer \${access_token}\`,
  'X-User-Token': token,
  'Idempotency-Key': crypto.randomUUID(),
})
await post(${json(facts.end_users_url)}, { external_id: externalId, user_jwt: token }, headers())
const { portfolio_id } = await post(${json(`${facts.end_user_url}/portfolios`)}, ${json(facts.portfolio, 2)}, headers())
const deposit = { portfolio_id, amount_minor: ${json(facts.amount_minor)} }
console.log(await post(${json(`${facts.end_user_url}/deposit`)}, deposit, headers()))

export {}
`
}

/** For Python 3 with its standard library. */
function pythonText(facts: Facts): string {
  const { ca_file } = facts
  const trust = ca_file === undefined ? '' : `trust = ssl.create_default_context(cafile=${json(ca_file)})\n`
  const imports = ['json', ...(facts.needs_control_token ? ['os'] : []), ...(ca_file === undefined ? [] : ['ssl'])]
  const control = facts.needs_control_token ? `, {"Authorization": "Bearer " + os.environ["CONTROL_TOKEN"]}` : ''
  return `${[...imports, 'urllib.error', 'urllib.parse', 'urllib.request', 'uuid'].map((name) => `import ${name}`).join('\n')}

external_id = ${json(facts.external_id)}
${trust}
def send(url, body, headers):
    request = urllib.request.Request(url, body.encode(), headers)
    try:
        with urllib.request.urlopen(request, timeout=${TIMEOUT_SECONDS}${ca_file === undefined ? '' : ', context=trust'}) as response:
            return json.load(response)
    except urllib.error.HTTPError as error:
        raise SystemExit(f"{error.code} {error.read().decode()}")

def post(url, body, headers={}):
    return send(url, json.dumps(body), {"Content-Type": "application/json", **headers})

form = urllib.parse.urlencode(${json(facts.form, 4)})
access_token = send(${json(facts.token_url)}, form, {})["access_token"]
user_token = post(${json(facts.minting_url)}, {"external_id": external_id}${control})["token"]

def headers():
    return {
        "Authorization": f"Bearer {access_token}",
        "X-User-Token": user_token,
        "Idempotency-Key": str(uuid.uuid4()),
    }

post(${json(facts.end_users_url)}, {"external_id": external_id, "user_jwt": user_token}, headers())
portfolio = post(${json(`${facts.end_user_url}/portfolios`)}, ${json(facts.portfolio, 4)}, headers())
deposit = {"portfolio_id": portfolio["portfolio_id"], "amount_minor": ${json(facts.amount_minor)}}
print(json.dumps(post(${json(`${facts.end_user_url}/deposit`)}, deposit, headers()), indent=2))
`
}

/** A value as a literal of JSON, TypeScript and Python alike, of printable ASCII: a client may have chosen the name of its end user. */
function json(value: unknown, indent?: number): string {
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`
  return JSON.stringify(value, null, indent).replace(/[\x7f-\uffff]/g, escaped)
}

/** The text of an object to which a field is to be added. */
function unclosed(object: string): string {
  return object.slice(0, -1)
}

/** A text as one word of a POSIX shell. */
function shell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
