import { readdirSync, readFileSync } from 'node:fs'
import { basename, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'

const root = fileURLToPath(new URL('..', import.meta.url))
const MAX_LINES = 500

/** Text that must not occur in src/, except under the paths given; comments do not count. */
const FORBIDDEN: { what: string; pattern: RegExp; exceptIn: string[]; instead: string }[] = [
  {
    what: 'Date.now()',
    pattern: /\bDate\.now\b/,
    exceptIn: ['src/domain/clock.ts', 'src/inspector/model/browser-time.ts', 'src/real-time.ts'],
    instead: 'ask the SandboxClock',
  },
  {
    what: 'new Date() without an argument',
    pattern: /\bnew Date\b(?!\s*\(\s*[^)\s])/,
    exceptIn: ['src/domain/clock.ts', 'src/real-time.ts'],
    instead: 'ask the SandboxClock',
  },
  {
    what: 'performance.now() or process.hrtime()',
    pattern: /\bperformance\.(now|timeOrigin)\b|\bprocess\.hrtime\b/,
    exceptIn: ['src/domain/clock.ts', 'src/real-time.ts'],
    instead: 'ask the SandboxClock',
  },
  {
    what: 'a timer',
    pattern: /\bset(Timeout|Interval)\b|\btimers(\/promises)?['"]/,
    exceptIn: ['src/client-time.ts', 'src/domain/clock.ts', 'src/inspector/model/browser-time.ts', 'src/real-time.ts'],
    instead: 'sleep on the SandboxClock',
  },
  {
    what: 'Math.random()',
    pattern: /\bMath\.random\b/,
    exceptIn: [],
    instead: 'draw from the SeededRandom',
  },
  {
    what: 'process.exit()',
    pattern: /(?<![\w.#$])process\.exit\b/,
    exceptIn: ['src/cli/'],
    instead: 'throw, and let the command line decide: a library never ends its process',
  },
  {
    what: 'the environment',
    pattern:
      /(?<![\w.#$])process(\.env\b|\[)|\{[^}]*\benv\b[^}]*\}\s*=\s*process\b|import\s*\{[^}]*\benv\b[^}]*\}\s*from\s*'node:process'/,
    // The text of a first request is a program of its own; the place of records must be the same for whoever looks for a sandbox.
    exceptIn: ['src/cli/', 'src/sandbox/first-request.ts', 'src/runners/announced.ts', 'src/running/private-place.ts'],
    instead: 'take an option: only the command line and what test runners load read the environment',
  },
]

/** A wait with a limit of its own, or with vitest's one second: on a busy machine it fails without reason. */
const HASTY: { what: string; pattern: RegExp }[] = [
  { what: 'vi.waitFor() or vi.waitUntil()', pattern: /\bvi\s*\.\s*wait(For|Until)\b/ },
  { what: 'a poll with a limit of its own', pattern: /\.poll\(.*\btimeout:/ },
  {
    what: 'a limit below the default of every test',
    pattern: /\b(test|it|describe)\b.*\{ timeout: [1-9]\d?_?\d{3} \}/,
  },
]

interface SourceFile {
  path: string
  text: string
}

function sourceFiles(folder: string): SourceFile[] {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter(({ parentPath, name }) => /\.m?tsx?$/.test(name) && !/[\\/]node_modules\b/.test(parentPath))
    .map((entry) => join(entry.parentPath, entry.name))
    .map((file) => ({ path: relative(root, file).replaceAll('\\', '/'), text: readFileSync(file, 'utf8') }))
}

// A string or a template is matched first, so that `//` inside an address does not start a comment.
const STRING_OR_COMMENT = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\[\s\S])*`|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g

/** Blanks comments out; line numbers stay. */
const withoutComments = (text: string) =>
  text.replace(STRING_OR_COMMENT, (found) => (found.startsWith('/') ? found.replace(/[^\n]/g, ' ') : found))

/** `file:line: complaint` for every line that the pattern hits. */
function complaints(path: string, text: string, pattern: RegExp, complaint: string): string[] {
  return text.split('\n').flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${complaint}`] : []))
}

function forbiddenText({ path, text }: SourceFile): string[] {
  const code = withoutComments(text)
  return FORBIDDEN.filter(({ exceptIn }) => !exceptIn.some((place) => path.startsWith(place))).flatMap(
    ({ what, pattern, instead }) => complaints(path, code, pattern, `${what} is not allowed here: ${instead}`),
  )
}

function unfinished({ path, text }: SourceFile): string[] {
  return complaints(path, text, /\b(TODO|FIXME|XXX)\b/, 'finish it, or open an issue')
}

function hasty({ path, text }: SourceFile): string[] {
  if (path === 'test/helpers/eventually.ts' || path === 'test/style.test.ts') return []
  const code = withoutComments(text)
  return HASTY.flatMap(({ what, pattern }) =>
    complaints(
      path,
      code,
      pattern,
      `${what} is not allowed here: use eventually() or expect.poll(), with the limits of vitest.config.ts`,
    ),
  )
}

function tooLong({ path, text }: SourceFile): string[] {
  const lines = text.trimEnd().split('\n').length
  return lines > MAX_LINES ? [`${path}:${lines}: over ${MAX_LINES} lines: this is two files`] : []
}

function badName({ path }: SourceFile): string[] {
  const folders = path.split('/').slice(0, -1)
  const file = basename(path).replace(/((\.long)?\.test|\.generated)?(\.d)?\.m?tsx?$/, '')
  const bad = [...folders, file].filter((part) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(part))
  return bad.length > 0 ? [`${path}:1: names are kebab-case: ${bad.join(', ')}`] : []
}

const EXPORTED_TYPE = /^export (?:declare )?(?:abstract )?(?:type|interface|class|enum) (\w+)/
const FUNCTION = /^(?:export )?(?:(?:async )?function\*? (\w+)|const (\w+) = (?:async )?(?:<|\(.*=>|\($))/

/** From this number of functions of one name on, a reader cannot know which one is meant. */
const TOO_MANY_NAMESAKES = 5
/** Every finding has its own: the method of the port `Finding`. */
const NAMES_OF_PORTS = new Set(['judge'])

/** `file:line` of every declaration that the pattern hits, by the name it captures. */
function declarations(files: readonly SourceFile[], pattern: RegExp): Map<string, string[]> {
  const places = new Map<string, string[]>()
  for (const { path, text } of files) {
    // An overloaded function is declared several times in its file, and is one.
    const inFile = new Set<string>()
    for (const [index, line] of text.split('\n').entries()) {
      const found = pattern.exec(line)
      const name = found?.[1] ?? found?.[2]
      if (name === undefined || inFile.has(name)) continue
      inFile.add(name)
      places.set(name, [...(places.get(name) ?? []), `${path}:${index + 1}`])
    }
  }
  return places
}

function namesakes(files: readonly SourceFile[]): string[] {
  const types = [...declarations(files, EXPORTED_TYPE)].filter(([, places]) => places.length > 1)
  const functions = [...declarations(files, FUNCTION)].filter(
    ([name, places]) => places.length >= TOO_MANY_NAMESAKES && !NAMES_OF_PORTS.has(name),
  )
  return [...types, ...functions].map(([name, places]) => `${name} is several things: ${places.join(', ')}`)
}

describe('style', () => {
  const source = sourceFiles('src')

  test('a name of src is one thing', () => {
    expect(namesakes(source).join('\n')).toBe('')
  })

  test.each([
    ['src reads clock, chance, timers and environment only where it may', forbiddenText],
    ['src is finished', unfinished],
    ['files of src are short', tooLong],
    ['files of src have kebab-case names', badName],
  ])('%s', (_, rule) => {
    expect(source.length).toBeGreaterThan(20)
    expect(source.flatMap(rule).join('\n')).toBe('')
  })

  test('files of tests and measurements have kebab-case names', () => {
    expect([...sourceFiles('test'), ...sourceFiles('bench')].flatMap(badName).join('\n')).toBe('')
  })

  test('tests wait with patience', () => {
    expect(sourceFiles('test').flatMap(hasty).join('\n')).toBe('')
  })

  test('the rules themselves see what they forbid, with file and line', () => {
    const text = [
      'const url = `http://localhost` // Date.now() in a comment',
      '/* setTimeout(',
      '   process.exit() */',
      'const a = Date.now()',
      "const b = 'http://acme' + new Date().toISOString()",
      'const c = new Date(0), d = new Date',
      'setTimeout(run, 5)',
      "import { setTimeout as sleep } from 'node:timers/promises'",
      'const e = Math.random()',
      'process.exit(1)',
      'const { HOME } = process.env',
      'if (this.#process.exit !== undefined) child.process.env = {}',
    ].join('\n')
    const lines = forbiddenText({ path: 'src/chain/made-up.ts', text }).map((line) => line.split(' ')[0])
    expect([...new Set(lines)].sort()).toEqual(
      [10, 11, 4, 5, 6, 7, 8, 9].map((line) => `src/chain/made-up.ts:${line}:`),
    )
    expect(forbiddenText({ path: 'src/cli/made-up.ts', text })).toHaveLength(6)
    expect(unfinished({ path: 'src/made-up.ts', text: 'x\n// TODO: later' })).toEqual([
      'src/made-up.ts:2: finish it, or open an issue',
    ])
    const waits = [
      'await vi.waitFor(() => expect(hits).toBe(1))',
      'await expect.poll(hits, { interval: 5, timeout: 5_000 }).toBe(1)',
      "test('it ends', { timeout: 20_000 }, async () => {",
    ].join('\n')
    expect(hasty({ path: 'test/made-up.test.ts', text: waits })).toHaveLength(3)
    expect(tooLong({ path: 'src/made-up.ts', text: 'x\n'.repeat(501) })).toHaveLength(1)
    expect(badName({ path: 'src/chain/madeUp.ts', text: '' })).toHaveLength(1)
    const files = (count: number, content: string) =>
      Array.from({ length: count }, (_, i) => ({ path: `src/made-up-${i}.ts`, text: content }))
    expect(namesakes(files(2, 'interface Mine {}\nexport interface Ours {}'))).toEqual([
      'Ours is several things: src/made-up-0.ts:2, src/made-up-1.ts:2',
    ])
    expect(namesakes(files(4, 'function keyOf(a: string) {}'))).toEqual([])
    expect(namesakes(files(5, 'function keyOf(a: string) {}\nconst nameOf = (a: string) => a'))).toHaveLength(2)
    expect(namesakes(files(5, 'export function judge() {}'))).toEqual([])
  })
})
