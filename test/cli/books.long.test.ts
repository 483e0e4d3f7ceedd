import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ROOT } from './command.ts'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

const APP = [process.execPath, join(ROOT, 'test/books/app.mjs')]
/** A books command: prints the file that the app has written in this sandbox, or namespace. */
const BOOKS = 'cat "$BOOKS/$(basename "$YIELD_CONTROL_URL").json"'

let directory: string
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'yield-sandbox-books-'))
})
afterAll(() => rm(directory, { recursive: true }))

const said = ({ stderr }: { stderr: string }) => stderr.replaceAll(/\s+/g, ' ')

describe('exec --books', () => {
  const exec = (flags: readonly string[], env: Record<string, string> = {}, books = BOOKS) =>
    runHere(['exec', '--books', books, ...flags, '--', ...APP], { BOOKS: directory, ...env })
  const LOST = ['--fault', 'drop_connection; phase=after_broadcast; operation=deposit']
  const REVERTED = ['--fault', 'revert; operation=deposit']

  test('right books clear an order that is left for later, and the report says what they have', async () => {
    const report = join(directory, 'report')
    const files = ['json', 'xml', 'md', 'txt', 'html'].flatMap((form) => ['--report', `${report}.${form}`])
    const ended = await exec([...LOST, ...files, '--json'])
    expect(ended.code).toBe(0)
    expect(said(ended)).toContain('✓ Your books are right: 2 transfers (1 done, 1 open).')
    const { runs } = JSON.parse(ended.stdout)
    expect(runs[0].report.books).toEqual({
      ...{ verdict: 'right', sentence: 'Your books are right: 2 transfers (1 done, 1 open).' },
      ...{ done: 1, failed: 0, open: 1, balances: 0 },
    })
    const text = (form: string) => readFile(`${report}.${form}`, 'utf8')
    expect(JSON.parse(await text('json')).operations.map(({ outcome }: { outcome: string }) => outcome)).toEqual([
      'booked',
      'told',
    ])
    expect(await text('xml')).toMatch(/name="books" time="0"\/>/)
    for (const form of ['md', 'txt'])
      expect((await text(form)).replaceAll('\\', '')).toContain('✓ Your books are right: ')
    expect(await text('html')).toMatch(/<p class="ok">✓ Your books are right: /)
  })

  test('without them the same order is untold', async () => {
    const ended = await runHere(['exec', ...LOST, '--', ...APP], { BOOKS: directory })
    expect(ended.code).toBe(3)
  })

  test.each<[string, readonly string[], string]>([
    [
      'done-too-early',
      ['--fault', 'drop_connection; phase=on_request; operation=deposit'],
      'is done in your books, and it was not carried out',
    ],
    ['failed-on-broken-connection', LOST, 'was carried out, and it has failed in your books'],
    ['refund', LOST, "alice's withdrawal of 1.00 USDC is done in your books, and no such transfer was carried out"],
    ['forgets', LOST, 'was carried out, and your books do not have it'],
    ['done-on-any-answer', REVERTED, 'is done in your books, and it was not carried out'],
  ])('%s is wrong: critical if the command ends well, serious if it fails', async (MISTAKE, fault, sentence) => {
    const report = join(directory, `${MISTAKE}.xml`)
    const ended = await exec([...fault, '--report', report], { MISTAKE })
    expect(ended.code).toBe(3)
    expect(said(ended)).toContain(`${sentence}. (critical)`)
    expect(said(ended)).toContain('Your books are wrong in one place')
    expect(await readFile(report, 'utf8')).toMatch(
      /name="books" time="0"><failure message="Your books are wrong in one place/,
    )
    const failed = await exec(fault, { MISTAKE, CODE: '5' })
    expect(failed.code).toBe(5)
    expect(said(failed)).toContain(`${sentence}. (serious)`)
  })

  test('books that lag are a warning', async () => {
    const ended = await exec([], { MISTAKE: 'never-done' })
    expect(ended.code).toBe(0)
    expect(said(ended)).toContain('and it is still open in your books: they lag. (warning)')
    expect(said(ended)).toContain('! Your books lag: 2 transfers are still open although your client was told')
  })

  test('is run with the environment of the command, after its end, and its own requests are no evidence', async () => {
    const books = `curl -sS -o /dev/null "$API/v1/partner/pools" && ${BOOKS}`
    const ended = await exec(['--env', 'API=YIELD_BASE_URL', '--json'], {}, books)
    expect(ended.code).toBe(0)
    const [{ report }] = JSON.parse(ended.stdout).runs
    expect(report.coverage.operations.find(({ id }: { id: string }) => id === 'list_pools')).toMatchObject({ count: 0 })
    expect(report.books.verdict).toBe('right')
  })

  test('is not run when --before failed', async () => {
    const mark = join(directory, 'mark')
    const ended = await exec(['--before', 'exit 5'], {}, `touch ${mark}`)
    expect(ended.code).toBe(5)
    await expect(readFile(mark)).rejects.toThrow('ENOENT')
  })

  describe('says in one sentence why it cannot be judged', () => {
    test.each<[string, string, string]>([
      [
        'fails',
        'exit 3',
        '--books failed: its command ended with code 3; run it by itself, with the environment that your command gets.',
      ],
      ['is killed', 'kill -KILL $$', '--books failed: its command was ended by SIGKILL; run it by itself'],
      ['never ends', 'sleep 600', '--books was not done after 5 s: it must print its JSON and end by itself.'],
    ])('that it %s, with exit code 4', async (_, books, sentence) => {
      const ended = await exec(['--timeout', '5s'], {}, books)
      expect(ended.code).toBe(4)
      expect(said(ended)).toContain(`Inconclusive: ${sentence}`)
    })

    test('but a failure stays one', async () => {
      const ended = await exec(LOST, {}, 'exit 3')
      expect(ended.code).toBe(3)
      expect(said(ended)).toContain('- --books failed: its command ended with code 3')
    })

    test.each<[string, string, RegExp]>([
      [
        'cannot be found',
        'no-such-command',
        /cannot be started \(code 127 of the shell\): check the name and the path of its command\./,
      ],
      ['cannot be run', '/etc/passwd', /cannot be started \(code 126 of the shell\)/],
      ['prints nothing', 'true', /printed nothing: it must print/],
      ['prints no JSON', 'echo done', /printed no JSON: "done"/],
      ['prints without end', 'yes', /printed more than 8 MiB: let it print the orders of this run alone\./],
      [
        'names nobody',
        `echo '{"form": 1, "transfers": [{"external_id": "alicia", "pool_id": "p", "type": "deposit", "amount_minor": "1", "state": "done"}]}'`,
        /the end user "alicia", and the sandbox has none of that name: .*; did you mean "alice"\?/,
      ],
      [
        'names no pool',
        `echo '{"form": 1, "balances": [{"external_id": "alice", "pool_id": "aave-usd", "principal_minor": "0"}]}'`,
        /the pool "aave-usd", and the sandbox has none of that id; did you mean "aave-usdc"\?/,
      ],
    ])('that it %s, with exit code 2', async (_, books, words) => {
      const ended = await exec(['--allow-inconclusive'], {}, books)
      expect(said(ended)).toMatch(words)
      expect(said(ended)).toContain('Inconclusive: --books ')
      expect(ended.code).toBe(2)
    })
  })
})

describe('explore --books', () => {
  let files = 0
  const explore = async (faults: string, env: Record<string, string> = {}, books = BOOKS) => {
    const report = join(directory, `explore-${++files}`)
    const flags = ['--only', 'deposit', '--faults', faults, '--jobs', '2', '--seed', '7', '--books', books]
    const written = ['json', 'xml', 'md', 'txt', 'html'].flatMap((form) => ['--report', `${report}.${form}`])
    const own = ['--results', `${report}.jsonl`, ...written]
    const ended = await runHere(['explore', ...own, ...flags, '--', ...APP], { BOOKS: directory, ...env })
    const text = (form: string) => readFile(`${report}.${form}`, 'utf8').catch(() => '')
    const json = await text('json')
    return { ...ended, text, results: json === '' ? [] : JSON.parse(json).results }
  }
  const outcomesOf = ({ results }: { results: { outcome: string; level: string }[] }) => [
    ...new Set(results.map(({ outcome, level }) => `${outcome} ${level}`)),
  ]

  test('right books: every order that is open or has failed rightly is well', async () => {
    const explored = await explore('reset-on-request,reset-after-broadcast,revert,unavailable')
    expect(outcomesOf(explored)).toEqual(['survived ok'])
    expect(explored.code).toBe(0)
    expect(explored.results[0].sentences[0]).toBe('the books are right')
    expect(explored.results[0].repeat).toContain(`--books '${BOOKS}'`)
  })

  test.each<[string, string, string]>([
    ['done-too-early', 'reset-on-request', 'is done in your books, and it was not carried out.'],
    ['failed-on-broken-connection', 'reset-after-broadcast', 'was carried out, and it has failed in your books.'],
    ['done-on-any-answer', 'revert', 'is done in your books, and it was not carried out.'],
  ])('%s after %s: wrong in the books, in every form of the report', async (MISTAKE, fault, sentence) => {
    const explored = await explore(fault, { MISTAKE })
    expect(outcomesOf(explored)).toEqual(['wrong_books critical'])
    expect(explored.code).toBe(3)
    expect(explored.results.flatMap((one: { sentences: string[] }) => one.sentences).join()).toContain(sentence)
    expect(said(explored)).toContain("wrong in the books: the application's own books are not as the ledger")
    expect(await explored.text('xml')).toMatch(/<failure message="wrong in the books: /)
    expect(await explored.text('md')).toContain('wrong in the books')
    expect(await explored.text('txt')).toContain('wrong in the books (critical)')
    expect(await explored.text('html')).toContain('wrong in the books')
  })

  test('a single trial is judged with the books as well', async () => {
    const env = { BOOKS: directory, MISTAKE: 'failed-on-broken-connection' }
    const trial = ['--trial', 'deposit#1@alice reset-after-broadcast', '--seed', '7', '--books', BOOKS]
    const ended = await runHere(['explore', ...trial, '--', ...APP], env)
    expect(ended.code).toBe(3)
    expect(said(ended)).toContain('wrong in the books (critical)')
  })

  test('requests of the books command are no evidence, and come after the audit, even if they move money', async () => {
    const elsewhere = await mkdtemp(join(directory, 'elsewhere-'))
    const explored = await explore('revert', {}, `BOOKS=${elsewhere} ${APP.join(' ')} > ${elsewhere}/log && ${BOOKS}`)
    expect(outcomesOf(explored)).toEqual(['survived ok'])
    expect(await readFile(`${elsewhere}/log`, 'utf8')).toBe('done done\n')
  })

  test('a run whose books cannot be read is errored, and the others go on', async () => {
    const books = `${BOOKS} | (! grep -q open) && ${BOOKS}`
    const explored = await explore('reset-after-broadcast,revert', {}, books)
    expect(outcomesOf(explored).sort()).toEqual(['errored inconclusive', 'survived ok'])
    expect(explored.code).toBe(4)
    expect(said(explored)).toContain('--books failed: its command ended with code 1')
  })

  describe('says in one sentence why nothing can be judged, when the run without faults', () => {
    const own = (stderr: string) => stderr.split('\n').filter((line) => /^yield-sandbox: (?!runs)/.test(line))
    test.each<[string, string, number, RegExp]>([
      [
        'has wrong books',
        `${BOOKS} | sed s/1000000/1000001/`,
        4,
        /--books is wrong without any fault, so nothing can be judged by it: .*1\.00 USDC.*Usual causes: other units than minor units/,
      ],
      [
        'has books that lag',
        `${BOOKS} | sed 's/"done"/"open"/g'`,
        4,
        /--books is wrong without any fault, .*it is still open in your books: they lag \(and 1 more\)\. /,
      ],
      ['fails', 'exit 3', 4, /--books failed: its command ended with code 3; .* \(after a run without any fault\)$/],
      ['prints no JSON', 'echo done', 2, /--books printed no JSON: "done"/],
    ])('%s', async (_, books, code, line) => {
      const ended = await explore('revert', {}, books)
      expect(own(ended.stderr)).toEqual([expect.stringMatching(line)])
      expect([ended.code, ended.results]).toEqual([code, []])
    })
  })
})

test.each(['exec', 'explore', 'certify'])('%s refuses an empty --books', async (name) => {
  expectClear(await runHere([name, '--books', '', '--', 'true']), { code: 2, line: /--books.* must not be empty/ })
})
