import type { Row } from './row.ts'
import type { Struck } from './situations.ts'

/** What a shipped scenario does to one client. */
export interface ScenarioRow {
  /** The thing that goes wrong in it; `quiet` for nothing that an operation notices. */
  is: Struck | 'quiet'
  /** Exit code of a client that never brings about what the scenario is for. */
  code?: number
  /** Only clients whose row names it are tried. */
  named?: true
}

/** The shipped scenarios, but for flaky-network: what strikes there is chance. */
export const SCENARIOS: Readonly<Record<string, ScenarioRow>> = {
  'bad-user-signature': { is: { hazard: 'aged-user-token', place: 'deposit 1' } },
  'dropped-deposit': { is: { hazard: 'reset-after-broadcast', place: 'deposit 1' } },
  'dropped-withdraw': { is: { hazard: 'reset-after-broadcast', place: 'withdraw 1' } },
  // None but those that ask for a second page.
  'expired-cursor': { is: 'quiet', code: 4 },
  'idp-token-expiry': { is: 'quiet' },
  'rate-limited': { is: { hazard: '429', place: 'deposit 1' } },
  'reverted-deposit': { is: { hazard: 'revert', place: 'deposit 1' } },
  // A token's last minute begins after two seconds: others may be done by then.
  'short-lived-token': { is: 'quiet', named: true },
  'slow-confirmation': { is: 'quiet' },
  'unknown-fields': { is: 'quiet' },
}

/** Scenarios in which nobody knows beforehand what strikes: a right client must come to no failure, whatever does. */
export const BY_CHANCE = ['flaky-network']

/** It takes most of a minute. */
const SLOW = 'slow-confirmation'

/** Those that a client is tried in: who is tried with few hazards has an odd way with every run. */
export function scenariosOf({ only, places, starts, program, library, scenarios = {} }: Row): string[] {
  const all = Object.keys(SCENARIOS)
  if ((only && !program) || places || starts) return all.filter((name) => scenarios[name] !== undefined)
  const usual = all.filter((name) => !SCENARIOS[name]?.named && (name !== SLOW || program || library))
  return all.filter((name) => usual.includes(name) || scenarios[name] !== undefined)
}
