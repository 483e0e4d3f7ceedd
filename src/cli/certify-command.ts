import type { Command } from 'commander'
import { atLeastOne, positiveDuration } from './parse-argument.ts'
import { type CertifyFlags, CLOCK, runningCommand, SEED, texts, withSandboxFlags } from './run-flags.ts'

/** `certify`: runs a command through all scenarios and an exploration, and writes one page of what was proved. */
export function certifyCommand(): Command {
  const command = runningCommand(
    'certify',
    'Run a command through all scenarios and explore, and write one page of what was proved. Exits with 3 when it is wrong.',
    '[command...]',
  )
    .option('--output <file.html>', 'the page; its JSON has the same name', 'yield-certificate.html')
    .option('--subject <text>', 'what is certified, such as a commit or a version of your app')
    .option('--jobs <n>', 'how many runs at a time (default: the number of processors)', atLeastOne)
    .option('--timeout <d>', 'how long a run may take (default: 5m and five times the command alone)', positiveDuration)
    .option('--allow-inconclusive', 'exit with 0 although scenarios came to no verdict or runs need review')
    .option('--tolerate', 'go on although two runs without faults differ')
    .option('--verify <file>', 'say whether a certificate is as it was made; twice: compare two', texts, [])
  const clock = `moment at which the clock of the runs of explore stands (default: ${CLOCK})`
  return withSandboxFlags(command, { seed: `every random choice derives from it (default: ${SEED})`, clock })
    .addHelpText('after', EXAMPLES)
    .action(async (command: string[], flags: CertifyFlags) => {
      // It renders pages, and no other command needs that code.
      const { runCertify } = await import('./run-certify.ts')
      return runCertify(command, flags)
    })
}

const EXAMPLES = `
The command is told where the sandbox is as by exec. It runs once in each shipped scenario, and once for everything that can go wrong.

Exit codes: 0 no rule is broken and no money went astray, 3 one is, it did, or the command failed in a scenario where it may not, 4 a
scenario came to no verdict, a run needs review, or nothing was exercised; the command's own when it fails without any fault.
Of --verify: 0 intact, 1 changed or not the same results, 2 no certificate, 4 written by another version.

Examples:
  yield-sandbox certify --subject "$(git rev-parse HEAD)" -- npm test
  yield-sandbox certify --before 'npm run db:reset' --output build/certificate.html -- npm test
  yield-sandbox certify --restarts 1 --before 'rm -f jobs.json' -- node worker.mjs
  yield-sandbox certify --verify yield-certificate.html
  yield-sandbox certify --verify before.json --verify after.json`
