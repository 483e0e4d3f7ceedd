import { cpSync, mkdtempSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { ROOT } from '../../cli/command.ts'

/** Makes a copy of the package whose command line renews its nodes after `RENEW_AFTER` blocks and transactions; returns its folder. */
export async function renewingPackage(): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'yield-sandbox-renewing-'))
  for (const name of ['package.json', 'node_modules', 'fixtures', 'contracts', 'scenarios']) {
    symlinkSync(join(ROOT, name), join(root, name))
  }
  cpSync(join(ROOT, 'bin'), join(root, 'bin'), { recursive: true })
  const bundle = await rolldown({
    input: fileURLToPath(new URL('renewing-cli.ts', import.meta.url)),
    platform: 'node',
    resolve: { mainFields: ['module', 'main'] },
    external: ['viem'],
  })
  await bundle.write({ file: join(root, 'dist/cli.js'), format: 'cjs', codeSplitting: false })
  for (const name of ['code-cache.js', 'first-words.js', 'package.json'])
    cpSync(join(ROOT, 'dist', name), join(root, 'dist', name))
  await bundle.close()
  return root
}
