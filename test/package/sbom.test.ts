import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ROOT } from '../cli/command.ts'

interface Component {
  'bom-ref': string
  name: string
  version: string
  properties: { name: string; value: string }[]
  hashes?: { alg: string; content: string }[]
}
interface Locked {
  version: string
  dev?: boolean
  integrity?: string
}

const read = (...path: string[]) => readFileSync(join(ROOT, ...path), 'utf8')
const bill = JSON.parse(read('dist', 'sbom.cdx.json')) as {
  bomFormat: string
  metadata: { component: { name: string; version: string } }
  components: Component[]
  dependencies: { ref: string; dependsOn: string[] }[]
}
const { '': _, ...locked } = JSON.parse(read('package-lock.json')).packages as Record<string, Locked>

const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
const listed = (place: string) =>
  bill.components
    .filter(({ properties }) => properties.some(({ name, value }) => name === 'yield-sandbox:place' && value === place))
    .map(({ name, version }) => `${name} ${version}`)
    .sort()
const once = (names: string[]) => [...new Set(names)].sort()

test('the bill of materials is that of this package', () => {
  const { version } = JSON.parse(read('package.json')) as { version: string }
  expect(bill).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'yield-sandbox', version } } })
})

test('it lists what npm installs with the package', () => {
  const installed = Object.entries(locked).filter(([, { dev }]) => !dev)
  expect(listed('node_modules')).toEqual(once(installed.map(([path, { version }]) => `${nameOf(path)} ${version}`)))
})

test('it lists what dist/ contains copies of', () => {
  const notices = [...read('dist', 'THIRD-PARTY-NOTICES.md').matchAll(/^## (\S+ \S+)$/gm)].map(([, one = '']) => one)
  expect(notices.length).toBeGreaterThan(30)
  expect(listed('dist')).toEqual(once(notices))
})

test("it lists what the embedded chain's bytecode was made from, and no tool of development", () => {
  expect(listed('contracts/out').map((one) => one.split(' ')[0])).toEqual(['@aave/core-v3', '@openzeppelin/contracts'])
  const placed = ['node_modules', 'dist', 'contracts/out'].flatMap(listed)
  expect(once(bill.components.map(({ name, version }) => `${name} ${version}`))).toEqual(once(placed))
  expect(bill.components.map(({ name }) => name)).not.toContain('vitest')
})

test("its hashes are the lock file's, and its references lead somewhere", () => {
  const integrities = new Map(Object.entries(locked).map(([path, one]) => [`${nameOf(path)}@${one.version}`, one]))
  for (const { name, version, hashes } of bill.components) {
    const [algorithm = '', hash = ''] = integrities.get(`${name}@${version}`)?.integrity?.split('-') ?? []
    const content = Buffer.from(hash, 'base64').toString('hex')
    expect(hashes ?? []).toEqual(hash ? [{ alg: algorithm.toUpperCase().replace('SHA', 'SHA-'), content }] : [])
  }
  const refs = new Set(bill.components.map((component) => component['bom-ref']))
  expect(bill.dependencies.flatMap(({ dependsOn }) => dependsOn).filter((ref) => !refs.has(ref))).toEqual([])
})
