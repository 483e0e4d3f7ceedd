import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { type SandboxHandle, startSandbox } from '../../src/index.ts'
import { bitsAreTold, REFUSAL } from './flipped-bits.ts'
import { temporaryDirectory } from './temporary-directory.ts'

// Every bit: flipped-bits.long.test.ts.
bitsAreTold(9)

it('a flipped bit of what is not a journal is told from its contrary by a start', async () => {
  const dataDir = join(temporaryDirectory(), 'data')
  let sandbox: SandboxHandle | undefined
  onTestFinished(() => sandbox?.stop())
  const start = () => startSandbox({ port: 0, confirmationDelay: 0, dataDir })
  sandbox = await start()
  await sandbox.namespaces.create({ name: 'mine' })
  await sandbox.stop()

  const manifest = join(dataDir, 'manifest.json')
  const whole = readFileSync(manifest)
  const seed = whole.indexOf('"seed"')
  for (const at of [0, seed, seed + 9, whole.indexOf('31337'), whole.length - 1]) {
    const bytes = Buffer.from(whole)
    bytes[at]! ^= 1
    writeFileSync(manifest, bytes)
    await expect(start()).rejects.toThrow(REFUSAL)
    expect(readFileSync(manifest).equals(bytes)).toBe(true)
  }
  writeFileSync(manifest, whole)

  const [life = ''] = readdirSync(join(dataDir, 'namespaces'))
  const file = join(dataDir, 'namespaces', life, 'namespace.json')
  const bytes = readFileSync(file)
  bytes[bytes.indexOf('"seed"') + 9]! ^= 1
  writeFileSync(file, bytes)
  sandbox = await start()
  expect(await sandbox.namespaces.list()).toMatchObject([
    { name: 'default', ready: true },
    { name: 'mine', ready: false, reason: expect.stringMatching(REFUSAL) },
  ])
})
