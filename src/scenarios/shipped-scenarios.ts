import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../package-root.ts'
import { loadScenarios } from './load-scenario.ts'
import type { Scenario } from './scenario-schema.ts'

/** Where they are. */
export const SHIPPED = fileURLToPath(new URL('scenarios', PACKAGE_ROOT))

/** The scenarios that ship with the package. */
export function shippedScenarios(): Promise<Scenario[]> {
  return loadScenarios(SHIPPED)
}
