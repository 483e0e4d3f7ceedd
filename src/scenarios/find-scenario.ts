import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { PACKAGE_ROOT } from '../package-root.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { loadScenario, loadScenarios, ScenarioError } from './load-scenario.ts'
import type { Scenario } from './scenario-schema.ts'

/** The folder of the scenarios that ship with the package. */
const SHIPPED = fileURLToPath(new URL('scenarios', PACKAGE_ROOT))

/** @returns true if the word is a file's path: names of scenarios have no dot and no slash */
export function isScenarioFile(nameOrFile: string): boolean {
  return /[./\\]/.test(nameOrFile)
}

/** Finds a shipped scenario by its name, or reads one from a file. Throws {@link ScenarioError}. */
export async function findScenario(nameOrFile: string): Promise<Scenario> {
  if (isScenarioFile(nameOrFile)) return loadScenario(nameOrFile)
  const names = (await readdir(SHIPPED)).flatMap((file) => /^(.+)\.yaml$/.exec(file)?.[1] ?? [])
  if (names.includes(nameOrFile)) return loadScenario(join(SHIPPED, `${nameOrFile}.yaml`))
  const fix = suggest(nameOrFile, names)
  throw new ScenarioError([
    { file: `scenario "${shorten(nameOrFile)}"`, path: '', message: 'is none of the shipped ones', fix },
  ])
}

/** The scenarios that ship with the package. */
export function shippedScenarios(): Promise<Scenario[]> {
  return loadScenarios(SHIPPED)
}
