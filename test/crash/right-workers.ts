import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { pythonWith } from '../verdict/clients/build-clients.ts'
import { installed } from '../verdict/clients/other-languages.ts'
import type { WorkerCommands } from './exploring-worker.ts'

const EXAMPLES = fileURLToPath(new URL('../../examples/workers/', import.meta.url))

/** A Node that has `node:sqlite` and runs TypeScript: this one, or the one that NODE_WITH_SQLITE names. */
const node = [process.execPath, process.env.NODE_WITH_SQLITE].find((command) => {
  const program = "require('node:sqlite'); process.exit(process.features.typescript ? 0 : 1)"
  return command !== undefined && spawnSync(command, ['-e', program], { stdio: 'ignore' }).status === 0
})
const python = pythonWith('requests', 'jwt', 'sqlite3')
const shell = ['sqlite3', 'curl', 'jq'].every((command) => installed(command, '--version'))

const of = (command: string, work: string, books: string): WorkerCommands => ({
  work: [command, EXAMPLES + work],
  books: [command, EXAMPLES + books],
})

/** The worker in a language. */
export interface RightWorker {
  language: string
  /** Undefined where the machine lacks what it needs. */
  worker: WorkerCommands | undefined
  needs: string
}

/** The workers of the examples. */
export const RIGHT_WORKERS: readonly RightWorker[] = [
  {
    language: 'TypeScript',
    worker: node === undefined ? undefined : of(node, 'typescript/worker.ts', 'typescript/books.ts'),
    needs: 'Node 22.18 or later, here or by NODE_WITH_SQLITE',
  },
  {
    language: 'Python',
    worker: python === undefined ? undefined : of(python, 'python/worker.py', 'python/outbox.py'),
    needs: 'a Python with requests and PyJWT',
  },
  {
    language: 'shell',
    worker: shell ? of('bash', 'shell/worker.sh', 'shell/outbox.sh') : undefined,
    needs: 'sqlite3, curl and jq',
  },
]
