import { prepareFiles, writeOwn, writing } from '../../exec/report-files.ts'
import type { Scenario } from '../../scenarios/scenario-schema.ts'
import { scenarioText } from '../../scenarios/scenario-text.ts'

/** Writes a scenario's file, its folder as well. Resolves to the path as `--scenario` takes it. Throws OptionError naming the flag. */
export async function saveScenario(path: string, scenario: Scenario, flag: string): Promise<string> {
  await prepareFiles([{ path }], flag)
  await writing(path, () => writeOwn(path, scenarioText(scenario)), flag)
  return path
}
