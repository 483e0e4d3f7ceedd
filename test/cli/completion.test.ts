import { execFileSync, spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { expectClear } from './expect-clear.ts'
import { runHere } from './in-process.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'yield-sandbox-completion-'))
})
afterAll(() => rm(folder, { recursive: true }))

/** The file of a shell's script. */
async function scriptOf(shell: string): Promise<string> {
  const { code, stdout, stderr } = await runHere(['completion', shell])
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const path = join(folder, shell)
  writeFileSync(path, stdout)
  return path
}

/** What is typed, and what must be among the completions; nothing stands for none. */
const TYPED: [words: string[], expected: string[]][] = [
  [['expl'], ['explore', 'explain']],
  [
    ['exec', '--scenario', 'dropped-'],
    ['dropped-deposit', 'dropped-withdraw'],
  ],
  [['exec', '--scenario', 'al'], ['all']],
  [['faults', 'cl'], ['clear']],
  [['faults', 'add', 'drop'], ['drop_connection']],
  [['findings', 'retry-a'], ['retry-after']],
  [['report', '--require', 'retry-a'], ['retry-after']],
  [['start', '--log-level', 'de'], ['debug']],
  [['scenario', 'run', 'flaky'], ['flaky-network']],
  [['--confirm'], ['--confirmation-delay']],
]

test('bash completes commands, flags and values', async () => {
  const script = await scriptOf('bash')
  const lines = TYPED.map(([words]) => `try ${words.map((word) => `'${word}'`).join(' ')}`)
  const program = `source '${script}'
try() { COMP_WORDS=(yield-sandbox "$@"); COMP_CWORD=$#; COMPREPLY=(); _yield_sandbox; echo "\${COMPREPLY[*]}"; }
${lines.join('\n')}
try exec --scenario x -- 'tru'
complete -p yield-sandbox`
  const out = execFileSync('bash', ['-c', program], { encoding: 'utf8' }).split('\n')
  for (const [i, [words, expected]] of TYPED.entries()) {
    expect([words, out[i]?.split(' ').sort()]).toEqual([words, [...expected].sort()])
  }
  expect(out[TYPED.length]?.split(' ')).toContain('true')
  expect(out[TYPED.length + 1]).toContain('-F _yield_sandbox yield-sandbox')
})

/** The shell itself, where it is installed. */
const isThere = (shell: string) => spawnSync(shell, ['-c', 'true']).status === 0

describe.skipIf(!isThere('zsh'))('zsh', () => {
  test('completes commands, flags and values', async () => {
    const script = await scriptOf('zsh')
    execFileSync('zsh', ['-fn', script])
    const lines = TYPED.map(([words]) => `try ${words.map((word) => `'${word}'`).join(' ')}`)
    // The functions of its completion system show what they are given, and all of it: they choose what fits.
    const program = `compdef() { }; _files() { }; _normal() { echo normal }
compadd() { shift; echo "$@" }
_describe() { print -r -- \${(P)2%%:*} }
source '${script}'
try() { words=(yield-sandbox "$@"); CURRENT=$#words; echo "$(_yield_sandbox)" }
${lines.join('\n')}
try exec --scenario x -- tru`
    const out = execFileSync('zsh', ['-fc', program], { encoding: 'utf8' }).split('\n')
    for (const [i, [words, expected]] of TYPED.entries()) {
      expect([words, out[i]?.split(' ')]).toEqual([words, expect.arrayContaining(expected)])
    }
    expect(out[TYPED.length]).toBe('normal')
  })
})

describe.skipIf(!isThere('fish'))('fish', () => {
  test('completes commands, flags and values', async () => {
    const script = await scriptOf('fish')
    const lines = TYPED.map(([words]) => `echo (complete -C 'yield-sandbox ${words.join(' ')}' | string split -f1 \\t)`)
    const program = `source '${script}'\n${lines.join('\n')}`
    const out = execFileSync('fish', ['-N', '-c', program], { encoding: 'utf8' }).split('\n')
    for (const [i, [words, expected]] of TYPED.entries()) {
      expect([words, out[i]?.split(' ')]).toEqual([words, expect.arrayContaining(expected)])
    }
  })
})

test('another shell is refused', async () => {
  expectClear(await runHere(['completion', 'tcsh']), { code: 2, line: /'tcsh' is invalid.*bash, zsh, fish/ })
})
