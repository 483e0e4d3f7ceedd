import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Ended, ROOT } from './command.ts'

/** Runs a line that was printed as a person would, who pastes it into a POSIX shell in a folder of their own. */
export async function paste(line: string, env: Record<string, string> = {}): Promise<Ended> {
  const folder = mkdtempSync(join(tmpdir(), 'yield-sandbox-paste-'))
  const program = join(folder, 'yield-sandbox')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${ROOT}/bin/yield-sandbox.js' "$@"\n`)
  chmodSync(program, 0o755)
  try {
    const PATH = `${folder}:${process.env.PATH}`
    const child = spawn('/bin/sh', ['-c', line], {
      cwd: folder,
      env: { PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    const texts = { stdout: '', stderr: '' }
    for (const stream of ['stdout', 'stderr'] as const)
      child[stream].on('data', (chunk: Buffer) => {
        texts[stream] += chunk
      })
    const [code, signal] = await once(child, 'close')
    return { code, signal, ...texts }
  } finally {
    rmSync(folder, { recursive: true })
  }
}
