import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { certificateExitCode } from '../certify/certificate.ts'
import {
  certificateFiles,
  compareCertificates,
  readCertificate,
  renderJson,
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
import { shorten } from '../support/foreign-text.ts'
import { print } from './control-options.ts'
import { ExploreDisplay } from './explore-display.ts'
import { sandboxToJoin, withFixturesOf, within } from './join.ts'
import { keepTickShape, watchSignals } from './own-process.ts'
import { progress } from './progress.ts'
import {
  type CertifyFlags,
  CLOCK,
  execFlags,
  exitAtOnce,
  ofScenarios,
  outputFor,
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
    const verified = await verifyFiles(given.verify)
    print(given, verified, verifiedLines(verified))
    process.exitCode = verified.exit_code
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
    books,
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
  const display = ExploreDisplay.ofThisProcess()
  const running = async () =>
    certify({
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
      ...{
        restarts,
        books,
        kinds: [],
        operations: [],
        scenarios: await shippedScenarios(),
        out: outputFor(flags),
        say,
        progress: ofScenarios,
      },
      flags: certifyFlags(flags),
      fixtures: await digestOfFile(flags.fixtures),
      watch: watchOf(display),
      explored: () => display.end(),
    })
  const certificate = await within(host, running).finally(() => display.end())
  if (!certificate) process.exitCode = codeOfSignal(interruption.asked.reason ?? 'SIGINT')
  else {
    await writeCertificate(files, certificate)
    progress.end()
    process.stderr.write(`\n${renderCertificateText(certificate, flags)}`)
    if (flags.json) process.stdout.write(renderJson(certificate))
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

/** The state of certificates, and for two, whether they agree. */
export interface VerifiedFiles {
  exit_code: number
  files: { file: string; state: string; sentence: string }[]
  /** Of two certificates that are unchanged: how they compare, in sentences; else empty. */
  compared: string[]
}

/** Verifies one certificate or two, and compares two. Throws OptionError. */
export async function verifyFiles(paths: readonly string[]): Promise<VerifiedFiles> {
  if (paths.length > 2) throw new OptionError('--verify compares two files at most')
  const read = await Promise.all(paths.map(readCertificate))
  const files = read.map((file) => ({ file: file.path, ...verifyCertificate(file) }))
  if (files.some(({ state }) => state === 'changed')) return { exit_code: 1, files, compared: [] }
  const same = files.every(({ state }) => state === 'intact') ? 0 : INCONCLUSIVE
  const [first, second] = read
  if (!first || !second) return { exit_code: same, files, compared: [] }
  const { sameResults, sentences } = compareCertificates(first.certificate, second.certificate)
  return { exit_code: sameResults ? same : 1, files, compared: [...sentences] }
}

function verifiedLines({ files, compared }: VerifiedFiles): string[][] {
  return [...files.map(({ file, sentence }) => [`${file}: ${sentence}`]), ...compared.map((sentence) => [sentence])]
}
