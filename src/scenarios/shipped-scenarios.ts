import { fileURLToPath } from 'node:url'
import { loadScenarios } from './load-scenario.ts'
import type { Scenario } from './scenario-schema.ts'

const DIRECTORY = fileURLToPath(new URL('../../scenarios', import.meta.url))

/** The scenarios that ship with the package. */
export function shippedScenarios(): Promise<Scenario[]> {
  return loadScenarios(DIRECTORY)
}
