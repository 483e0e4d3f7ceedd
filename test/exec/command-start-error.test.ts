import { expect, test } from 'vitest'
import { CommandStartError } from '../../src/exec/run-command.ts'

const messageOf = (command: string, code: string | undefined) =>
  new CommandStartError(command, Object.assign(new Error('out of luck'), code === undefined ? {} : { code })).message

test.each([
  ['cd', 'ENOENT', `"cd" is a word of the shell: give sh -c '…' as the command`],
  ['A=1', 'ENOENT', '"A=1" is not a command: set variables with env, as in: -- env A=1 npm test'],
  ['npm test', 'ENOENT', `"npm test" is not a command: leave out the quotes around it, or give sh -c '…'`],
  [
    'package.json',
    'ENOENT',
    '"package.json" cannot be started: the program that its first line (#!) names does not exist',
  ],
  ['./none.sh', 'ENOENT', '"./none.sh" does not exist: check the path'],
  ['none', 'ENOENT', '"none" is not a command on this machine: PATH has nothing of that name'],
  ['1=2', 'ENOENT', '"1=2" is not a command on this machine: PATH has nothing of that name'],
  ['x', 'EACCES', '"x" cannot be run: it is not an executable file (chmod +x makes a script one)'],
  ['x', 'EPERM', '"x" cannot be run: it is not an executable file (chmod +x makes a script one)'],
  ['x', 'E2BIG', '"x" cannot be started: its arguments and environment are too long for this machine'],
  ['x', 'ENOMEM', '"x" cannot be started (ENOMEM)'],
  ['x', undefined, '"x" cannot be started (out of luck)'],
])('%s: %s', (command, code, message) => {
  expect(messageOf(command, code)).toBe(message)
})
