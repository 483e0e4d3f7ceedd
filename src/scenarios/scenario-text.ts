import { stringify } from 'yaml'
import type { Scenario } from './scenario-schema.ts'

/** A scenario as YAML that the loader reads again. What is empty is left out. */
export function scenarioText({ name, description, faults, clock, expect }: Scenario): string {
  return stringify(
    {
      name,
      description,
      ...(faults.length > 0 && { faults }),
      ...(clock.length > 0 && { clock }),
      ...(Object.keys(expect).length > 0 && { expect }),
    },
    { lineWidth: 120, aliasDuplicateObjects: false },
  )
}
