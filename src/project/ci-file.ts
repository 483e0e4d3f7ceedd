import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { PACKAGE_ROOT } from '../package-root.ts'
import { version } from '../version.ts'
import type { Mapping } from './environment-names.ts'
import type { ProjectScan } from './scan-project.ts'

/** A file to be written. */
export interface CiFile {
  /** Relative to the project. */
  path: string
  text: string
  /** What is to be done for the CI system to find it; undefined if it does by itself. */
  include?: string
}

/** The CI file of a project: the shipped example, with the project's own command, installation and names. */
export function ciFile(root: string, scan: ProjectScan): CiFile {
  const example = scan.ci === 'gitlab' ? 'gitlab-ci.yml' : 'github-actions.yml'
  const text = readFileSync(new URL(`examples/ci/${example}`, PACKAGE_ROOT), 'utf8')
  if (scan.ci === 'github') {
    const path = '.github/workflows/yield-sandbox.yml'
    return { path, text: fitted(text, scan).replace('.github/workflows/yield.yml', path) }
  }
  const own = '.gitlab-ci.yml'
  if (!existsSync(join(root, own))) return { path: own, text: fitted(text, scan) }
  const path = '.gitlab/yield-sandbox.yml'
  const include = `add to ${own}:  include: [{ local: ${path} }]`
  // The stages are those of the project's own file.
  return {
    path,
    text: fitted(text, scan)
      .replace(own, path)
      .replace(/^stages: .*\n\n/m, ''),
    include,
  }
}

/** The example's lines with the project's own in their place. */
function fitted(text: string, { runner, mappings, installed }: ProjectScan): string {
  return text
    .split('\n')
    .flatMap((line) => {
      const [indent = ''] = /^ */.exec(line) ?? []
      const [, item = ''] = /^ *(- (?:run: )?)npm ci$/.exec(line) ?? []
      if (item !== '') return runner.install.map((command) => indent + item + command)
      if (/^ *cache: npm$/.test(line)) return runner.npmCache ? [line] : []
      if (line.trim() === '--env API_URL=YIELD_BASE_URL') return flagsOf(mappings).map((flag) => indent + flag)
      if (line.trim() === '-- npm test') return [`${indent}-- ${runner.command}`]
      // A folded text can hold no comment: what is uncertain stands before the step.
      if (/^ *# Exit code 3/.test(line))
        return [line, ...questions(mappings).map((question) => `${indent}# ${question}`)]
      return [installed ? line : line.replace('npx yield-sandbox', `npx --yes yield-sandbox@${version}`)]
    })
    .join('\n')
}

/** `--env` of every mapping that is certain. */
export function flagsOf(mappings: readonly Mapping[]): string[] {
  return mappings.filter(({ certain }) => certain).map(({ theirs, ours }) => `--env ${theirs}=${ours}`)
}

/** Mappings that a person has to decide on. */
export function questions(mappings: readonly Mapping[]): string[] {
  return mappings
    .filter(({ certain }) => !certain)
    .map(({ theirs, ours }) => `If ${theirs} is of this service, add: --env ${theirs}=${ours}`)
}
