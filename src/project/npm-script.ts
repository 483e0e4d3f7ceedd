import { flagsOf } from './ci-file.ts'
import type { ProjectScan } from './scan-project.ts'

/** Name of the script that runs the tests against a sandbox. */
export const SCRIPT = 'test:yield'

/** The script: all names that are certain, and the project's own command. */
export function npmScript({ mappings, runner }: Pick<ProjectScan, 'mappings' | 'runner'>): string {
  return ['yield-sandbox exec', ...flagsOf(mappings), '--', runner.command].join(' ')
}

/**
 * The text of a package.json with the script, indented as before; undefined if it has a script of that name, or cannot be read as JSON.
 */
export function withScript(text: string, script: string): string | undefined {
  let content: { scripts?: Record<string, string> }
  try {
    content = JSON.parse(text)
  } catch {
    return undefined
  }
  if (content.scripts?.[SCRIPT] !== undefined) return undefined
  const [, indent = '  '] = /^\{\r?\n([ \t]+)"/.exec(text) ?? []
  const changed = { ...content, scripts: { ...content.scripts, [SCRIPT]: script } }
  return `${JSON.stringify(changed, null, indent)}${text.endsWith('\n') ? '\n' : ''}`
}

/** The line to paste into package.json. */
export function scriptLine(script: string): string {
  return `"${SCRIPT}": ${JSON.stringify(script)}`
}
