// Takes a world of its own by one call, and runs the demo of the client in TypeScript in it.
const { YIELD_CONTROL_URL, YIELD_SANDBOX_CONTROL_TOKEN } = process.env
const headers = { authorization: `Bearer ${YIELD_SANDBOX_CONTROL_TOKEN}`, 'content-type': 'application/json' }

const made = await fetch(`${YIELD_CONTROL_URL}/namespaces`, { method: 'POST', headers, body: '{}' })
if (!made.ok) throw new Error(`no namespace: ${await made.text()}`)
const { base_url, auth_url, control_url, scope, audience, tenants } = await made.json()
const [acme] = tenants
console.log(`the service is at ${base_url}`)

Object.assign(process.env, {
  YIELD_BASE_URL: base_url,
  YIELD_AUTH_URL: auth_url,
  YIELD_CLIENT_ID: acme.client_id,
  YIELD_CLIENT_SECRET: acme.client_secret,
  YIELD_SCOPE: scope,
  YIELD_AUDIENCE: audience,
  YIELD_ISSUER: acme.issuer,
  YIELD_KEY_ID: acme.kid,
  YIELD_PRIVATE_KEY_PEM: acme.private_key_pem,
})
try {
  await import('../clients/typescript/demo.ts')
} finally {
  await fetch(control_url, { method: 'DELETE', headers })
}
