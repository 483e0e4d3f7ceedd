/** Reads a file of the project; undefined if it is not there. */
export type ReadFile = (path: string) => string | undefined

/** How a project's tests are run. */
export interface TestRunner {
  /** Such as `vitest`; `unknown` where nothing was found. */
  name: string
  /** The command, words as a shell takes them. */
  command: string
  /** Lines of a shell that make the project ready in CI. */
  install: string[]
  /** True if npm's own cache can be used: there is its lock file. */
  npmCache: boolean
}

/** Packages of npm that run tests, the first of them being the likeliest. */
const RUNNERS = ['vitest', 'jest', 'mocha', '@playwright/test', 'playwright', 'ava', 'tap']

/** npm's placeholder for a script that nobody has written. */
const NO_TEST = /no test specified/

/** Managers of npm's packages by their lock file. */
const MANAGERS: [lock: string, name: string, install: string[]][] = [
  ['pnpm-lock.yaml', 'pnpm', ['corepack enable', 'pnpm install --frozen-lockfile']],
  ['yarn.lock', 'yarn', ['corepack enable', 'yarn install --immutable']],
  ['package-lock.json', 'npm', ['npm ci']],
  ['npm-shrinkwrap.json', 'npm', ['npm ci']],
]

/** Files that show other languages, and how their tests are run. */
const OTHERS: [file: string, name: string, command: string][] = [
  ['pytest.ini', 'pytest', 'pytest'],
  ['pyproject.toml', 'pytest', 'pytest'],
  ['requirements.txt', 'pytest', 'pytest'],
  ['pom.xml', 'maven', 'mvn -B test'],
  ['build.gradle', 'gradle', './gradlew test'],
  ['build.gradle.kts', 'gradle', './gradlew test'],
  ['go.mod', 'go', 'go test ./...'],
]

/** Finds out how a project's tests are run: by package.json first, then by what other languages have. */
export function findTestRunner(read: ReadFile): TestRunner {
  const found = ofPackage(read)
  if (found && found.name !== 'unknown') return found
  const other = OTHERS.find(([file]) => read(file) !== undefined)
  if (other) {
    const [, name, command] = other
    return { name, command, install: name === 'pytest' ? pipInstall(read) : [], npmCache: false }
  }
  return found ?? { name: 'unknown', command: 'npm test', install: [], npmCache: false }
}

function pipInstall(read: ReadFile): string[] {
  if (read('requirements.txt') !== undefined) return ['pip install pytest -r requirements.txt']
  return [read('pyproject.toml') === undefined ? 'pip install pytest' : 'pip install pytest .']
}

interface PackageJson {
  scripts?: Record<string, string>
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
}

function ofPackage(read: ReadFile): TestRunner | undefined {
  const text = read('package.json')
  if (text === undefined) return undefined
  const { scripts = {}, dependencies, devDependencies }: PackageJson = packageIn(text)
  const [lock, manager = 'npm', install = ['npm install']] = MANAGERS.find(([file]) => read(file) !== undefined) ?? []
  const script = scripts.test ?? ''
  const packages = { ...dependencies, ...devDependencies }
  const runner = RUNNERS.find((name) => script.includes(name)) ?? RUNNERS.find((name) => name in packages)
  const name = /\bnode\b.*--test\b/.test(script)
    ? 'node --test'
    : (runner?.replace('@playwright/test', 'playwright') ?? 'unknown')
  const isScript = script !== '' && !NO_TEST.test(script)
  const command = isScript ? `${manager} test` : name === 'unknown' ? 'npm test' : `npx ${name}`
  const npmCache = lock !== undefined && manager === 'npm'
  return { name: isScript && name === 'unknown' ? `${manager} test` : name, command, install, npmCache }
}

function packageIn(text: string): PackageJson {
  try {
    return Object(JSON.parse(text))
  } catch {
    return {} // npm itself will say what is wrong with it
  }
}
