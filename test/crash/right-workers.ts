import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { installed, pythonWith } from '../verdict/clients/installed.ts'
import type { WorkerCommands } from './exploring-worker.ts'

const EXAMPLES = fileURLToPath(new URL('../../examples/workers/', import.meta.url))

/** A Node that has `node:sqlite` and runs TypeScript: this one, or the one that NODE_WITH_SQLITE names. */
function nodeWithSqlite(): string | undefined {
  return [process.execPath, process.env.NODE_WITH_SQLITE].find((command) => {
    const program = "require('node:sqlite'); process.exit(process.features.typescript ? 0 : 1)"
    return command !== undefined && spawnSync(command, ['-e', program], { stdio: 'ignore' }).status === 0
  })
}

const of = (command: string | undefined, work: string, books: string): WorkerCommands | undefined =>
  command === undefined ? undefined : { work: [command, EXAMPLES + work], books: [command, EXAMPLES + books] }

/** The worker in a language. */
export interface RightWorker {
  language: string
  /** Undefined where the machine lacks what it needs. That is looked up each time. */
  readonly worker: WorkerCommands | undefined
  needs: string
}

/** The workers of the examples. */
export const RIGHT_WORKERS: readonly RightWorker[] = [
  {
    language: 'TypeScript',
    get worker() {
      return of(nodeWithSqlite(), 'typescript/worker.ts', 'typescript/books.ts')
    },
    needs: 'Node 22.18 or later, here or by NODE_WITH_SQLITE',
  },
  {
    language: 'Python',
    get worker() {
      return of(pythonWith('requests', 'jwt', 'sqlite3'), 'python/worker.py', 'python/outbox.py')
    },
    needs: 'a Python with requests and PyJWT',
  },
  {
    language: 'shell',
    get worker() {
      const all = ['sqlite3', 'curl', 'jq'].every((command) => installed(command, '--version'))
      return of(all ? 'bash' : undefined, 'shell/worker.sh', 'shell/outbox.sh')
    },
    needs: 'sqlite3, curl and jq',
  },
]
