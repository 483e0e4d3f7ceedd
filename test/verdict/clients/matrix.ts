import { type BuiltClients, type ClientProgram, python, shell } from './build-clients.ts'
import type { Outcome, Stage, Trial } from './stage.ts'
import { mistakes } from './wrong-clients.ts'

/** A trial, and what must come of it. */
export interface Row {
  /** `fresh-key-on-deposit-retry`, `8 × python, flaky-network` */
  name: string
  trial: Trial
  /** The finding that must fail, and it alone; undefined when none may, and the verdict must be passed. */
  finding: string | undefined
}

/** Every wrong client under what exercises its mistake. */
export function wrongRows(clients: BuiltClients): Row[] {
  return mistakes.map(({ id, finding, exercise }) => {
    const program = clients.wrong.get(id)
    if (!program) throw new Error(`${id} was not built`)
    return { name: id, finding, trial: { ...exercise, programs: [program] } }
  })
}

/** Right clients, `count` at once, under a scenario; without one, they are just run. */
export function rightRow(program: ClientProgram, count: number, scenario: string | undefined): Row {
  const name = `${count > 1 ? `${count} × ` : ''}${program.id}, ${scenario ?? 'no scenario'}`
  const trial = { programs: Array.from({ length: count }, () => program), ...(scenario && { scenario }) }
  return { name, trial, finding: undefined }
}

/** The correct clients under every scenario, one by one and `count` at once. */
export function rightRows(clients: BuiltClients, scenarios: readonly string[], count: number): Row[] {
  const programs = [clients.typescript, ...(python ? [python] : []), shell]
  const counts = count > 1 ? [1, count] : [1]
  return counts.flatMap((number) =>
    [undefined, ...scenarios].flatMap((scenario) => programs.map((program) => rightRow(program, number, scenario))),
  )
}

/** Performs the rows, so many at a time, and tells of each as it ends. */
export async function performAll(
  stage: Stage,
  rows: readonly Row[],
  { atOnce, onOutcome }: { atOnce: number; onOutcome: (row: Row, outcome: Outcome) => void },
): Promise<void> {
  const waiting = rows.values()
  const worker = async () => {
    for (const row of waiting) onOutcome(row, await stage.perform(row.trial))
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
