// One process of a fleet, bundled by ./fleet.mjs: `owner` serves, `front <host> <port> <secret>` passes everything on to one.
import { randomBytes } from 'node:crypto'
import { Listener } from '../../src/http/listener.ts'
import { answerForwarded, leadToOwners, openFleetListener } from '../../src/sandbox/front.ts'
import { Sandbox } from '../../src/sandbox/sandbox.ts'

const [role, host, port, secret] = process.argv.slice(2)
if (role === 'owner') {
  const sandbox = await Sandbox.listen({ port: 0, confirmationDelay: 0, seed: 7 })
  await sandbox.ready
  const own = randomBytes(32).toString('base64url')
  const passed = await openFleetListener({ host: '127.0.0.1', port: 0 })
  await answerForwarded(passed, own, () => sandbox.server)
  const fleet = new URL(passed.url)
  const { settings } = sandbox.namespace.fixture
  const ready = { credentials: await sandbox.credentials(), settings, fleet: [fleet.hostname, fleet.port, own] }
  process.once('SIGTERM', () => void Promise.all([sandbox.stop(), passed.close()]))
  process.stdout.write(`${JSON.stringify(ready)}\n`)
} else {
  const listener = await Listener.open({ host: '127.0.0.1', port: 0, publicUrl: undefined, tls: undefined })
  const owner = { host, port: Number(port), secret }
  await leadToOwners(listener, {
    certificate: undefined,
    settings: { name: 'service', error_docs: 'none', error_body: 'problem' },
    ownerOf: () => owner,
    application: () => undefined,
    self: undefined,
  })
  process.once('SIGTERM', () => void listener.close())
  process.stdout.write(`${JSON.stringify({ url: listener.url })}\n`)
}
