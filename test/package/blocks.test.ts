import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, test } from 'vitest'
import { blocksOf, pages } from '../../scripts/extract-blocks.mjs'
import { otherCommands } from '../../src/cli/other-commands.ts'
import { startCommand } from '../../src/cli/start-command.ts'
import { ROOT } from '../cli/command.ts'
import { shellWordsOf } from './shell-words.ts'

const SHELL = ['sh', 'bash']
const PAGES = pages().filter((page) => blocksOf(page, SHELL).length > 0)
const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** Commands of a block, one a line, without comments, variables that are set and what comes after a pipe. */
function commandsOf(block: string): string[] {
  const lines = block.replaceAll(/\\\n\s*/g, ' ').split('\n')
  return lines
    .flatMap((line) => line.replace(/\s+#.*$/, '').split(/ \| | && |^\w+=\$\(|\$\((?=node)/))
    .map((one) => one.trim())
}

/** Has the command line read a call, without doing anything; throws if a word of it is wrong. */
function read(args: readonly string[]): void {
  const [name = 'start', ...rest] = args[0]?.startsWith('-') ? ['start', ...args] : args
  const before = rest.indexOf('--') === -1 ? rest : rest.slice(0, rest.indexOf('--'))
  let command = [startCommand, ...otherCommands].map((make) => make()).find((one) => one.name() === name)
  let given = before
  for (let inner: Command | undefined = command; inner; ) {
    command = inner
    inner = inner.commands.find((one) => one.name() === given[0])
    if (inner) given = given.slice(1)
  }
  expect(command, `the command ${name}`).toBeDefined()
  const { operands, unknown } = command!
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parseOptions(given)
  expect(unknown, `flags of ${args.join(' ')}`).toEqual([])
  const required = command!.registeredArguments.filter((argument) => argument.required)
  const after = before === rest ? 0 : rest.length - before.length - 1
  expect(operands.length + after, `arguments of ${args.join(' ')}`).toBeGreaterThanOrEqual(required.length)
}

describe.each(PAGES)('the commands of %s', (page) => {
  const blocks = blocksOf(page, SHELL)
  const commands = blocks.flatMap(commandsOf)

  test('are what a shell understands', () => {
    for (const block of blocks) execFileSync('bash', ['-n'], { input: block.replaceAll(/<(\w+)>/g, '$1') })
  })

  test('of the sandbox can be given', () => {
    for (const command of commands) {
      const [, call] =
        /(?:^|npx |[\w]=\S+ )(?:node bin\/yield-sandbox\.js|yield-sandbox)(?=\s|$)(.*)$/.exec(command) ?? []
      if (call !== undefined && !command.startsWith('docker')) read(shellWordsOf(call))
    }
  })

  test('of npm and Node name what is there', () => {
    for (const command of commands) {
      const [, script] = /^npm run ([\w:]+)/.exec(command) ?? []
      if (script !== undefined) expect(scripts).toHaveProperty([script])
      const [, file] = /^node ([\w./-]+\.m?js)/.exec(command) ?? []
      if (file !== undefined) expect(existsSync(join(ROOT, file)), file).toBe(true)
    }
  })
})

test('every block of TypeScript is compiled by npm run check', () => {
  expect(scripts['check:types']).toMatch(/^node scripts\/extract-blocks\.mjs && tsc -p \./)
  expect(readFileSync(join(ROOT, 'tsconfig.json'), 'utf8')).toContain('".generated/docs"')
})
