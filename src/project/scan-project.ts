import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type Mapping, mappingsOf, namesInEnvFile, namesInSource } from './environment-names.ts'
import { findTestRunner, type TestRunner } from './test-runner.ts'

/** What a project shows of itself. */
export interface ProjectScan {
  runner: TestRunner
  mappings: Mapping[]
  /** The CI system that it uses. */
  ci: 'github' | 'gitlab'
  /** True if the package of this sandbox is among its dependencies. */
  installed: boolean
}

/** Folders that hold nothing that somebody wrote for this project. */
const SKIPPED = new Set(['node_modules', 'dist', 'build', 'out', 'target', 'vendor', 'coverage', 'venv', '__pycache__'])
const SOURCE = /\.(?:[cm]?[jt]sx?|py|java|kt|go|rb|cs)$/
/** Files of an environment; never that of a real one's secrets alone: only names are read. */
const ENV_FILE = /^\.env(?:\.[\w.-]+)?$|\.env$/

/** Most files that are read, and the longest. */
const [MOST_FILES, LONGEST] = [2000, 500_000]

/** Looks through a project's folder. Files that cannot be read are left out. */
export function scanProject(root: string): ProjectScan {
  const read = (path: string) => fileText(join(root, path))
  const names = new Set<string>()
  for (const path of filesBelow(root)) {
    const text = fileText(path) ?? ''
    for (const name of SOURCE.test(path) ? namesInSource(text) : namesInEnvFile(text)) names.add(name)
  }
  const installed = /"yield-sandbox"\s*:/.test(read('package.json') ?? '')
  return {
    runner: findTestRunner(read),
    mappings: mappingsOf(names),
    ci: isGitlab(root) ? 'gitlab' : 'github',
    installed,
  }
}

function isGitlab(root: string): boolean {
  if (existsSync(join(root, '.github'))) return false
  if (existsSync(join(root, '.gitlab-ci.yml'))) return true
  return /url\s*=.*gitlab/i.test(fileText(join(root, '.git/config')) ?? '')
}

/** Source files and files of the environment, nearest first. */
function filesBelow(root: string): string[] {
  const found: string[] = []
  const folders = [root]
  for (let folder = folders.shift(); folder !== undefined && found.length < MOST_FILES; folder = folders.shift()) {
    for (const entry of listed(folder)) {
      const path = join(folder, entry.name)
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && !entry.name.startsWith('.')) folders.push(path)
      } else if (entry.isFile() && (SOURCE.test(entry.name) || ENV_FILE.test(entry.name))) found.push(path)
    }
  }
  return found.slice(0, MOST_FILES)
}

function listed(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch {
    return []
  }
}

function fileText(path: string): string | undefined {
  try {
    return statSync(path).size > LONGEST ? '' : readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
