import { retryAfterOf } from '../evidence/answers.ts'
import { attemptsOf, isWrite, type Step, timelinesOf } from '../evidence/timelines.ts'
import { plural, requestInWords, spell } from '../evidence/words.ts'
import { type Evidence, type Finding, failed, type Judgement, notExercised, passed } from '../finding.ts'

export const retryPace: Finding = {
  id: 'retry-pace',
  title: 'Retries leave the service time to recover',
  failureTitle: 'Retries follow each other without a pause: the attempts are used up before anything can change',
  rule: 'Limits: "Deposit and withdraw duration: typically 5 to 30 seconds." What fails within milliseconds fails for the same reason a few milliseconds later.',
  impact: 'minor',
  consequence:
    'A short outage uses up all attempts, and the transfer is given up though it would have succeeded seconds later. The retries of all clients together prolong the outage.',
  situation: 'more than ten failed attempts at one operation',
  exerciseWith: "--fault 'drop_connection; phase=on_request; operation=deposit; times=12'",
  fix: 'Wait before each retry, and longer each time: 0.25, 0.5, 1, 2, 4 s, with a random part that keeps clients apart.',
  wrongClients: ['retries-without-pause'],
  judge,
}

/** More attempts within a second are a storm; fewer are a quick start. */
const MOST = 10
const WINDOW_MS = 1000
/** Minimum number of retries that show a pace. */
const SHOWN = 3
/** Minimum average pause in milliseconds. */
const PAUSE_MS = 100

function judge(evidence: Evidence): Judgement {
  const rows = timelinesOf(evidence).flatMap((timeline) =>
    timeline.steps
      .filter((step) => isWrite(step.exchange) && !step.kept && attemptsOf(timeline, step)[0] === step)
      .flatMap((first) => rowsOf(attemptsOf(timeline, first))),
  )
  for (const row of rows) {
    const storm = stormIn(row)
    if (storm) return contradicted(storm)
  }
  const paced = rows.filter((row) => row.length > SHOWN && averagePause(row) >= PAUSE_MS)
  const [longest] = paced.sort((a, b) => b.length - a.length)
  if (!longest)
    return notExercised(`No operation was sent ${SHOWN + 1} times with pauses, or more than ${MOST} times without.`)
  const explanation = `${requestInWords(stepAt(longest, 0).exchange)} was sent ${plural(longest.length, 'time')}, with ${spell(averagePause(longest))} in between on average.`
  return passed(explanation, shownOf(longest))
}

/** Rows of attempts of one operation, each sent after the one before had failed in a way that may pass. */
function rowsOf(attempts: readonly Step[]): Step[][] {
  const rows: Step[][] = []
  for (const step of attempts) {
    const row = rows.at(-1)
    const before = row?.at(-1)
    if (row && before && step.began >= before.ended && mayPass(before)) row.push(step)
    else rows.push([step])
  }
  return rows
}

/** @returns true if the failure may pass; Retry-After and refused tokens have findings of their own */
function mayPass({ exchange, fate }: Step): boolean {
  if (exchange.response?.status === 401 || retryAfterOf(exchange) !== null) return false
  return fate === 'unanswered' || fate === 'server_error' || fate === 'not_now'
}

function stormIn(row: readonly Step[]): readonly Step[] | undefined {
  for (let start = 0; start + MOST < row.length; start++) {
    const storm = row.slice(start, start + MOST + 1)
    if (stepAt(storm, MOST).began - stepAt(storm, 0).began < WINDOW_MS && !grows(storm)) return storm
  }
  return undefined
}

/** @returns true if the later pauses are longer than the earlier ones, as of a client that begins quickly and slows down */
function grows(row: readonly Step[]): boolean {
  const middle = Math.floor(row.length / 2)
  return averagePause(row.slice(middle)) > 2 * averagePause(row.slice(0, middle + 1)) + PAUSE_MS / 10
}

function contradicted(storm: readonly Step[]): Judgement {
  const took = stepAt(storm, MOST).began - stepAt(storm, 0).began
  const explanation = `${requestInWords(stepAt(storm, 0).exchange)} was sent ${plural(storm.length, 'time')} within ${spell(took)}, and the pauses did not grow.`
  const values = { expected: 'pauses that grow', came: `${spell(averagePause(storm))} on average` }
  return failed(explanation, values, shownOf(storm))
}

function shownOf(row: readonly Step[]) {
  return [stepAt(row, 0), stepAt(row, 1), stepAt(row, row.length - 1)].map(({ exchange }) => exchange)
}

function averagePause(row: readonly Step[]): number {
  const pauses = row.slice(1).map(({ began }, place) => began - stepAt(row, place).ended)
  return pauses.reduce((sum, pause) => sum + pause, 0) / pauses.length
}

function stepAt(row: readonly Step[], place: number): Step {
  return row[place] as Step
}
