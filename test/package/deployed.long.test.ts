import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { parse } from 'yaml'
import { ControlClient } from '../../src/control/client.ts'
import { connectSandbox } from '../../src/library/connect-sandbox.ts'
import { ROOT } from '../cli/command.ts'
import { commandStarter } from '../cli/command-starter.ts'
import { Partner } from '../helpers/partner.ts'

const TOKEN = 'control-token'
const manifest = parse(readFileSync(join(ROOT, 'deploy/kubernetes/statefulset.yaml'), 'utf8'))
const [container] = manifest.spec.template.spec.containers
const folder = mkdtempSync(join(tmpdir(), 'deployed-'))
afterAll(() => rmSync(folder, { recursive: true }))

const start = commandStarter()

/** A pod over the volume: what its container is given, and a delay that holds a deposit. */
async function pod() {
  const args = container.args.map((word: string) => (word === '/data' ? join(folder, 'data') : word))
  const own = ['--port', '0', '--json', '--confirmation-delay', '0', '--log-level', 'info']
  const command = start([...args, ...own], { env: { YIELD_SANDBOX_CONTROL_TOKEN: TOKEN } })
  const { base_url } = await command.credentials()
  const get = async (path: string, headers = {}) => (await fetch(`${base_url}${path}`, { headers })).status
  const statuses = () => Promise.all(PROBES.map((path) => get(path)))
  return { command, base_url, get, statuses, control: new ControlClient(base_url, { controlToken: TOKEN }) }
}

const PROBES = [container.startupProbe, container.readinessProbe, container.livenessProbe].map(
  ({ httpGet }: { httpGet: { path: string } }) => httpGet.path,
)

test('a pod is probed and scraped, outlives a fault of one namespace, ends at SIGTERM, and another one goes on from its volume', async () => {
  const first = await pod()
  await expect.poll(first.statuses).toEqual([200, 200, 200])
  const { metadata } = manifest.spec.template
  const scraped = metadata.annotations['prometheus.io/path']
  expect(await first.get(scraped)).toBe(401)
  expect(await first.get(scraped, { authorization: `Bearer ${TOKEN}` })).toBe(200)

  const { tenants } = await first.control.createNamespace({ name: 'alice', confirmation_delay: '1h' })
  const alice = await connectSandbox({ url: first.base_url, controlToken: TOKEN, namespace: 'alice' })
  const acme = new Partner(alice)
  const portfolio = await acme.open('erin')
  await first.control.addFaults([{ kind: 'chain_down', phase: 'on_request', with: { for: '1h' } }])
  await new Partner(await connectSandbox({ url: first.base_url, controlToken: TOKEN })).get('pools')
  // The default namespace is not ready any more: whoever has that for a readiness probe shuts all others out.
  expect(await first.statuses()).toEqual([503, 200, 200])
  expect((await acme.get('pools')).status).toBe(200)

  const key = crypto.randomUUID()
  const held = acme.deposit('erin', portfolio, '1000', { key }).catch(() => undefined)
  await expect
    .poll(() => alice.requests.list({ operation: 'deposit' }))
    .toMatchObject({ data: [{ transfer: { tx_hash: expect.stringMatching(/^0x/) } }] })
  first.command.kill('SIGTERM')
  expect(await first.command.ended).toMatchObject({ code: 0, signal: null })
  await held
  const own = first.command.stderr.split('\n').filter((line) => line.includes('"path":"/v1/'))
  expect(own.every((line) => /"namespace":"(alice|default)"/.test(line))).toBe(true)

  const second = await pod()
  await expect.poll(second.statuses).toEqual([200, 200, 200])
  expect((await second.control.usage()).namespaces).toMatchObject([
    { name: 'default' },
    { name: 'alice', holdings: null },
  ])
  const again = await connectSandbox({ url: second.base_url, controlToken: TOKEN, namespace: 'alice' })
  expect(again.tenants[0]!.client_id).toBe(tenants[0]!.client_id)
  expect((await new Partner(again).deposit('erin', portfolio, '1000', { key })).status).toBe(200)
  const { holdings } = (await second.control.usage()).namespaces[1]!
  expect(holdings).toMatchObject({ ledger: { bytes_of: 'journal', end_users: expect.any(Number) } })
})
