import type { Credentials, MintedToken } from '../../control/contract.ts'

/** What this page uses of Swagger UI, whose script is loaded before this one. */
declare const SwaggerUIBundle: (options: object) => {
  /** Fills the form of the client credentials grant. */
  initOAuth(client: { clientId: string; clientSecret: string; scopes: string[] }): void
  /** Sets the value of a security scheme. */
  preauthorizeApiKey(scheme: string, value: string): void
}

interface OpenApiDocument {
  paths: Record<string, Record<string, { parameters?: { name: string; example?: unknown }[] }>>
}

const control = part('#control', HTMLFormElement)
const tokens = part('#tokens', HTMLFormElement)
const slugs = part('#tokens select', HTMLSelectElement)
const endUser = part('#tokens input', HTMLInputElement)
const endUsers = part('#end-users', HTMLDataListElement)
const said = part('#said', HTMLElement)

show().catch(say)

/** Shows the description, and then what fills it: secrets are fetched from the control interface, as by any other page of the sandbox. */
async function show(): Promise<void> {
  const spec = withFreshKeys(await ask<OpenApiDocument>('GET', '/openapi.json'))
  const ui = SwaggerUIBundle({
    spec,
    dom_id: '#swagger-ui',
    deepLinking: true,
    docExpansion: 'list',
    tryItOutEnabled: true,
    validatorUrl: null,
  })
  const answer = await fetch('/_sandbox/credentials', { cache: 'no-store' })
  if (answer.status === 401) return askForControlToken()
  const { tenants, scope }: Credentials = await read(answer)
  const chosen = () => tenants.find(({ slug }) => slug === slugs.value)
  slugs.replaceChildren(...tenants.map(({ slug }) => new Option(slug)))
  const fill = () => {
    const tenant = chosen()
    if (!tenant) return
    const { client_id: clientId, client_secret: clientSecret, end_users } = tenant
    ui.initOAuth({ clientId, clientSecret, scopes: [scope] })
    endUsers.replaceChildren(...end_users.map((name) => new Option(name)))
    endUser.value = end_users[0] ?? ''
  }
  const authorize = async () => {
    const place = `/_sandbox/tenants/${encodeURIComponent(slugs.value)}`
    const external_id = endUser.value
    const idp = await ask<MintedToken>('POST', `${place}/idp_tokens`, {})
    const user = await ask<MintedToken>('POST', `${place}/user_tokens`, { external_id })
    ui.preauthorizeApiKey('idp_token', idp.token)
    ui.preauthorizeApiKey('user_token', user.token)
    say(`Authorized as ${slugs.value} for ${external_id}, until ${new Date(user.expires_at).toLocaleTimeString()}.`)
  }
  fill()
  slugs.addEventListener('change', fill)
  onSubmit(tokens, authorize)
}

/** Begins a session of the browser with the control token: the page never keeps it. */
function askForControlToken(): void {
  const token = part('#control input', HTMLInputElement)
  onSubmit(control, async () => {
    await ask('POST', '/_sandbox/sessions', { token: token.value })
    location.reload()
  })
}

/** An example of a key would be good once: each operation gets one of its own. Pages of plain http from elsewhere have no `randomUUID`. */
function withFreshKeys(document: OpenApiDocument): OpenApiDocument {
  if (!isSecureContext) return document
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path))
  for (const { parameters = [] } of operations) {
    for (const parameter of parameters) {
      if (parameter.name === 'Idempotency-Key') parameter.example = crypto.randomUUID()
    }
  }
  return document
}

/** Shows a form; what goes wrong in `act` is shown to the reader. */
function onSubmit(form: HTMLFormElement, act: () => Promise<void>): void {
  form.hidden = false
  form.addEventListener('submit', (event) => {
    event.preventDefault()
    act().catch(say)
  })
}

async function ask<T>(method: string, path: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  return read(await fetch(path, { method, ...(body && { headers, body: JSON.stringify(body) }) }))
}

async function read<T>(answer: Response): Promise<T> {
  const text = await answer.text()
  const value = text === '' ? undefined : JSON.parse(text)
  if (!answer.ok) throw new Error(value?.detail ?? `The sandbox answered ${answer.status}.`)
  return value as T
}

function say(words: unknown): void {
  said.textContent = words instanceof Error ? words.message : String(words)
}

function part<T extends Element>(selector: string, kind: new () => T): T {
  const found = document.querySelector(selector)
  if (found instanceof kind) return found
  throw new Error(`the page has no ${selector}`)
}
