import type { CatalogueEntry } from './catalogue-entry.ts'

/** Exit codes of every command, and what to do at each. */
const EXIT_CODES: Record<string, [means: string, then: string]> = {
  0: ['good; of exec, report and certify: the verdict is passed', 'nothing'],
  1: [
    'a failure: the sandbox, or what it needs, did not work, or the time was over',
    'read the line on stderr; yield-sandbox doctor',
  ],
  2: ['usage: a flag, a file or a command that cannot be used', 'read the line on stderr: it names the fix'],
  3: [
    'the verdict is failed: a rule was broken, or money went astray',
    'the report says which request did it, and the fix',
  ],
  4: [
    'the verdict is inconclusive: something that was asked for did not come about, or is open',
    'the report says what is missing; --allow-inconclusive makes it 0',
  ],
  130: ['interrupted by Ctrl-C (128 + SIGINT)', 'nothing; what was seen until then is shown'],
  143: ['ended by SIGTERM (128 + 15)', 'find out who ended it: a time limit of the CI system, mostly'],
}

/** The exit codes of the command line. Another code of exec, explore or certify is that of the user's own command. */
export function exitCodes(): CatalogueEntry[] {
  return Object.entries(EXIT_CODES).map(([id, [means, then]]) => ({
    id,
    is: 'exit code',
    says: [
      ['means', means],
      ['what to do', then],
      ['all about it', 'docs/exec.md'],
    ],
  }))
}
