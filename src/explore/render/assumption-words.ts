import { plural } from '../../verdict/evidence/words.ts'
import { ASSUMPTION_OUTCOMES, type AssumptionOutcome, type AssumptionResult } from '../exploration.ts'
import { isBad } from '../judge/judge-trial.ts'

/** Presentation of outcomes under another setting of the service: a sign, a name, and a meaning. */
export const ASSUMPTION_WORDS: Record<AssumptionOutcome, { sign: string; name: string; meaning: string }> = {
  astray: { sign: '✗', name: 'went astray', meaning: 'money is where it must not be' },
  hung: { sign: '∞', name: 'hung', meaning: 'the command was not done in time' },
  breaks: { sign: '?', name: 'broke', meaning: 'the command ended with another code, or with other money' },
  errored: { sign: '?', name: 'errored', meaning: 'the run itself went wrong: it says nothing' },
  untried: { sign: '·', name: 'not tried', meaning: 'the run did not take place' },
  not_met: { sign: '-', name: 'not met', meaning: 'the run never came to where the setting decides: it says nothing' },
  survived: { sign: '✓', name: 'survived', meaning: 'the run came to where the setting decides, and ended as before' },
}

/** Number of settings that a sentence names. */
const NAMED = 3

/** "breaks under 2 of 17 other settings of the service: transfer_status=201 (your client ended with code 1: …), …" */
export function assumptionsInWords(results: readonly AssumptionResult[]): string {
  const of = (...outcomes: AssumptionOutcome[]) => results.filter(({ outcome }) => outcomes.includes(outcome))
  const all = `${results.length} other ${results.length === 1 ? 'setting' : 'settings'} of the service`
  const parts = [
    ...under('money goes astray under', of('astray'), all),
    ...under('the command hangs under', of('hung'), all),
    ...under('breaks under', of('breaks'), all),
  ]
  const [survived, unmet, silent] = [of('survived').length, of('not_met').length, of('errored', 'untried').length]
  const good = survived === 0 ? [] : [`ends as well as before under ${survived} of ${all}`]
  const said = parts.length > 0 ? parts : good
  return [
    ...(said.length > 0 ? said : [`shows nothing of ${all}`]),
    ...(unmet === 0 ? [] : [`${unmet} of them ${unmet === 1 ? 'was' : 'were'} never met`]),
    ...(silent === 0 ? [] : [`${plural(silent, 'run')} failed or did not take place`]),
  ].join('; ')
}

function under(what: string, some: readonly AssumptionResult[], all: string): string[] {
  if (some.length === 0) return []
  const named = some.slice(0, NAMED).map((one) => `${settingName(one)} (${one.sentences[0]})`)
  const more = some.length > NAMED ? [`${some.length - NAMED} more`] : []
  return [`${what} ${some.length} of ${all}: ${[...named, ...more].join(', ')}`]
}

/** `transfer_status=201` */
export function settingName({ id }: Pick<AssumptionResult, 'id'>): string {
  return id.replace(/^assumption /, '')
}

/** "under other settings 2 broke, 9 survived": outcomes that occurred, the worst first; nothing where there are none. */
export function assumptionTally(results: readonly AssumptionResult[]): string[] {
  const counts = ASSUMPTION_OUTCOMES.flatMap((outcome) => {
    const count = results.filter((one) => one.outcome === outcome).length
    return count === 0 ? [] : [`${count} ${ASSUMPTION_WORDS[outcome].name}`]
  })
  return counts.length === 0 ? [] : [`under other settings ${counts.join(', ')}`]
}

/** The worst first; those that say nothing stand last. */
export function worstAssumptionsFirst(results: readonly AssumptionResult[]): AssumptionResult[] {
  return results.toSorted((a, b) => ASSUMPTION_OUTCOMES.indexOf(a.outcome) - ASSUMPTION_OUTCOMES.indexOf(b.outcome))
}

/** @returns true for a result that a client with this setting of the live service would suffer from */
export function harms({ outcome, level }: AssumptionResult): boolean {
  return outcome === 'breaks' || isBad(level)
}
