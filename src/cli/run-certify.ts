import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { certificateExitCode } from '../certify/certificate.ts'
import {
  certificateFiles,
  compareCertificates,
  readCertificate,
  verifyCertificate,
  writeCertificate,
} from '../certify/certificate-file.ts'
import { certify } from '../certify/certify.ts'
import { renderCertificateText } from '../certify/render/render-text.ts'
import { codeOfSignal } from '../exec/command-end.ts'
import { parseRename } from '../exec/command-environment.ts'
import { INCONCLUSIVE } from '../exec/exit-code.ts'
import { prepareFiles } from '../exec/report-files.ts'
import type { ExploreWatch } from '../explore/explore.ts'
import { OptionError } from '../option-error.ts'
import { shippedScenarios } from '../scenarios/find-scenario.ts'
import { shorten, visibleText } from '../support/foreign-text.ts'
import { ExploreDisplay } from './explore-display.ts'
import { sandboxToJoin, withFixturesOf } from './join.ts'
import { keepTickShape, watchSignals } from './own-process.ts'
import {
  type CertifyFlags,
  CLOCK,
  execFlags,
  exitAtOnce,
  forgiveReaders,
  SEED,
  sandboxOptions,
  say,
} from './run-flags.ts'

/** Most characters of a subject. */
const LONGEST_SUBJECT = 200

/** Carries out `certify`. Throws the errors of `explore` and `exec`, and OptionError. */
export async function runCertify(command: string[], given: CertifyFlags): Promise<void> {
  if (given.verify.length > 0) {
    if (command.length > 0) throw new OptionError('--verify runs no command: leave out one of them')
    process.exitCode = await verifyFiles(given.verify, (line) => void process.stdout.write(`${line}\n`))
    return
  }
  if (command.length === 0) throw new OptionError('certify needs a command after --, or --verify <file>')
  keepTickShape()
  const host = await sandboxToJoin(given)
  const flags = withFixturesOf(given, host)
  const {
    subject,
    before,
    restarts,
    timeout,
    tolerate = false,
    output,
    clock = CLOCK,
    jobs = availableParallelism(),
  } = flags
  refuseLong(subject)
  const files = certificateFiles(output)
  const renames = flags.env.map(parseRename)
  await prepareFiles([{ path: files.html }], '--output')
  const options = await sandboxOptions({ ...flags, seed: flags.seed ?? SEED })
  const interruption = watchSignals()
  forgiveReaders()
  const display = ExploreDisplay.ofThisProcess()
  const certificate = await certify({
    ...{
      command,
      before,
      renames,
      env: process.env,
      interruption,
      options,
      host,
      clock,
      timeout,
      jobs,
      tolerate,
      subject,
    },
    ...{ restarts, kinds: [], operations: [], scenarios: await shippedScenarios(), out: process.stdout, say },
    flags: certifyFlags(flags),
    fixtures: await digestOfFile(flags.fixtures),
    watch: watchOf(display),
    explored: () => display.end(),
  }).finally(() => display.end())
  if (!certificate) process.exitCode = codeOfSignal(interruption.asked.reason ?? 'SIGINT')
  else {
    await writeCertificate(files, certificate)
    process.stderr.write(`\n${renderCertificateText(certificate, flags)}`)
    say(`written to ${files.html} and ${files.json}`)
    process.exitCode = certificateExitCode(certificate.evidence, flags)
  }
  exitAtOnce()
}

function refuseLong(subject = ''): void {
  if (subject.length <= LONGEST_SUBJECT) return
  throw new OptionError(`--subject "${shorten(subject)}" must have at most ${LONGEST_SUBJECT} characters`)
}

function watchOf(display: ExploreDisplay): ExploreWatch {
  return {
    baseline: (run) => display.baseline(run),
    planned: (_, trials) => display.planned(trials, []),
    tried: (result) => display.tried(result),
  }
}

/** Flags on which the certificate depends, those that `exec` lacks first; seed, clock and subject have members of their own. */
function certifyFlags({ timeout, tolerate, ...flags }: CertifyFlags): string[] {
  return [
    ...(tolerate ? ['--tolerate'] : []),
    ...(timeout === undefined ? [] : ['--timeout', `${timeout}ms`]),
    ...execFlags(flags),
  ]
}

async function digestOfFile(path: string | undefined): Promise<string | null> {
  if (path === undefined) return null
  return `sha256:${createHash('sha256')
    .update(await readFile(path))
    .digest('hex')}`
}

/** Reports whether one certificate is intact, and for two, whether they also agree. Resolves to the exit code. */
export async function verifyFiles(paths: readonly string[], print: (line: string) => void): Promise<number> {
  if (paths.length > 2) throw new OptionError('--verify compares two files at most')
  const files = await Promise.all(paths.map(readCertificate))
  const verified = files.map((file) => ({ file, ...verifyCertificate(file) }))
  for (const { file, sentence } of verified) print(visibleText(`${file.path}: ${sentence}`))
  const [first, second] = files
  if (verified.some(({ state }) => state === 'changed')) return 1
  const same = verified.every(({ state }) => state === 'intact') ? 0 : INCONCLUSIVE
  if (!first || !second) return same
  const { sameResults, sentences } = compareCertificates(first.certificate, second.certificate)
  for (const sentence of sentences) print(visibleText(sentence))
  return sameResults ? same : 1
}
