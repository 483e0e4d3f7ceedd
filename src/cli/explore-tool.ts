import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type Static, Type } from '@sinclair/typebox'
import type { McpTool, Progress } from '../control/mcp/mcp-server.ts'
import type { ExplorationDocument } from '../explore/exploration-document.ts'

const text = (description: string) => Type.Optional(Type.String({ description }))

const Wish = Type.Object(
  {
    command: Type.Array(Type.String(), {
      minItems: 1,
      description:
        'The command and its arguments, such as ["npm", "test"]. It finds its sandbox in YIELD_BASE_URL and the like.',
    }),
    only: text('Only at these operations, separated by commas: deposit,withdraw.'),
    faults: text('Only these faults, separated by commas: drop_connection, or reset-after-broadcast.'),
    trial: text('This one only, by the id that an exploration named.'),
    crash: Type.Optional(
      Type.Boolean({
        description:
          'Kills the command at every request, and starts it again: for a worker, which goes on with what is open.',
      }),
    ),
    recover: text('With crash: run by the shell after a kill, in place of the command.'),
    twins: Type.Optional(Type.Boolean({ description: 'Runs a second process of the command beside the first.' })),
    restarts: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3,
        description: 'Starts a command that left a transfer open so often again.',
      }),
    ),
    books: text(
      'Run by the shell after each run; prints what the app believes of its orders, in the form that docs/oracle.md has.',
    ),
    env: Type.Optional(
      Type.Array(Type.String(), { description: 'THEIR_NAME=YIELD_NAME, for an app that reads other variables.' }),
    ),
  },
  { additionalProperties: false },
)

/** Explores a command by a process of its own: its sandboxes and signals are nobody else's. */
export function exploreTool(): McpTool {
  return {
    name: 'explore',
    title: 'Would the client pay twice?',
    description:
      'Runs a command once without faults, then once for every fault at every request, or with crash for every kill, each in a sandbox of its ' +
      'own, and compares where the money ended up. Takes minutes; only and faults make it shorter. Then fix the client, and ask again with the trial that failed.',
    input: Wish,
    run: explored,
  }
}

async function explored(wish: Static<typeof Wish>, progress: Progress) {
  const folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-mcp-'))
  try {
    const files = { text: join(folder, 'report.txt'), json: join(folder, 'report.json') }
    const flags = [
      ...['--results', join(folder, 'results.jsonl'), '--save', folder],
      ...['--report', files.text, '--report', files.json],
      ...(wish.only === undefined ? [] : ['--only', wish.only]),
      ...(wish.faults === undefined ? [] : ['--faults', wish.faults]),
      ...(wish.trial === undefined ? [] : ['--trial', wish.trial]),
      ...(wish.crash ? ['--crash'] : []),
      ...(wish.recover === undefined ? [] : ['--recover', wish.recover]),
      ...(wish.twins ? ['--twins'] : []),
      ...(wish.restarts === undefined ? [] : ['--restarts', String(wish.restarts)]),
      ...(wish.books === undefined ? [] : ['--books', wish.books]),
      ...(wish.env ?? []).flatMap((rename) => ['--env', rename]),
    ]
    const said = await run(['explore', ...flags, '--', ...wish.command], progress)
    const report = await readFile(files.text, 'utf8').catch(() => undefined)
    if (report === undefined) throw new Error(said)
    return { text: report, data: inShort(JSON.parse(await readFile(files.json, 'utf8'))) }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** What it came to, and of each mistake the first trial that shows it. */
function inShort({ verdict, summary, incidents, results }: ExplorationDocument): object {
  const wrong = incidents.wrong.map(({ trials }) => {
    const shown = results.find(({ trial }) => trial.id === trials[0])
    const findings = shown?.findings.map(({ id, explanation, fix }) => ({ id, explanation, fix }))
    return { trials, outcome: shown?.outcome, sentences: shown?.sentences, findings, repeat: shown?.repeat }
  })
  return { verdict, summary, wrong }
}

/** Runs the command line; resolves with its last lines when it has ended. */
async function run(args: readonly string[], progress: Progress): Promise<string> {
  // The script that this process runs as well.
  const [, script = ''] = process.argv
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'ignore', 'pipe'] })
  const lines: string[] = []
  const read = async () => {
    for await (const line of createInterface({ input: child.stderr })) {
      if (line.trim() !== '') progress(line)
      if (lines.push(line) > 20) lines.shift()
    }
  }
  await Promise.all([read(), once(child, 'close')])
  return lines.join('\n')
}
