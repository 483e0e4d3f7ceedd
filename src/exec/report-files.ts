import { constants } from 'node:fs'
import { mkdir, open, rm, stat } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { OptionError } from '../option-error.ts'
import { shorten } from '../support/foreign-text.ts'
import { suggest } from '../support/nearest.ts'
import { formOfFile, REPORT_FORMS, type Report, type ReportForm } from '../verdict/report.ts'

/** Path and form of a report. */
export interface ReportFile {
  path: string
  form: ReportForm
}

/** Derives the form from the file's suffix. Throws OptionError. */
export function reportFile(path: string): ReportFile {
  const form = formOfFile(path)
  if (form) return { path, form }
  const suffixes = Object.values(REPORT_FORMS).map((one) => one.suffixes[0])
  const fix = suggest(extname(path), suffixes)
  throw new OptionError(`--report "${shorten(path)}" has a suffix that stands for no form of report; ${fix}`)
}

/**
 * Makes the folders of the files that a flag names, and opens each file once, so that a long run does not end with an unwritable report.
 * Throws OptionError naming the file that cannot be written.
 */
export async function prepareFiles(files: readonly Pick<ReportFile, 'path'>[], flag?: string): Promise<void> {
  for (const { path } of files) {
    await writing(path, () => makeFolder(dirname(path)), flag)
    await writing(path, () => tryOut(path), flag)
  }
}

/** Windows does not have O_NOFOLLOW. */
const { O_APPEND, O_CREAT, O_NOFOLLOW = 0, O_TRUNC, O_WRONLY } = constants

/**
 * Overwrites a file. A symbolic link, which others may have put there, is not followed: rejects with ELOOP. The system's own links,
 * such as /dev/stdout, are followed.
 */
export async function writeOwn(path: string, text: string): Promise<void> {
  const file = await open(path, O_WRONLY | O_CREAT | O_TRUNC | unlinked(path), 0o666)
  try {
    await file.writeFile(text)
  } finally {
    await file.close()
  }
}

function unlinked(path: string): number {
  return /^\/(?:dev|proc)\//.test(path) ? 0 : O_NOFOLLOW
}

/** An existing file stays unchanged: an interrupted run writes no report. A pipe is not opened: that would wait for its reader. */
async function tryOut(path: string): Promise<void> {
  const there = await stat(path).catch(() => undefined)
  if (there !== undefined && !there.isFile() && !there.isDirectory()) return
  await (await open(path, O_WRONLY | O_CREAT | O_APPEND | unlinked(path))).close()
  if (there === undefined) await rm(path)
}

/** Makes a folder and its parents. Node's own `recursive` retries for ever where a folder is impossible, as in /proc. */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT') throw error
    await makeFolder(dirname(path))
    await mkdir(path)
  }
}

/** Writes every report. Resolves to false when one of the files could not be written, which it reports. */
export async function writeReports(
  files: readonly ReportFile[],
  reports: readonly Report[],
  say: (line: string) => void,
): Promise<boolean> {
  if (files.length === 0 || reports.length === 0) return true
  // Loaded on demand: the renderers are long, and most runs write no report.
  const { renderReports } = await import('../verdict/render/render-reports.ts')
  return writeEach(files, (form) => renderReports(form, reports), say)
}

/**
 * Writes a file in each of the forms, and says where they are. An unwritable file is reported, and the others are still written:
 * it must not hide the result of the run. Resolves to false when there was one.
 */
export async function writeEach<Form>(
  files: readonly { path: string; form: Form }[],
  render: (form: Form) => string,
  say: (line: string) => void,
): Promise<boolean> {
  const written: string[] = []
  for (const { path, form } of files) {
    try {
      await writing(path, () => writeOwn(path, render(form)))
      written.push(path)
    } catch (error) {
      if (!(error instanceof OptionError)) throw error
      say(error.message)
    }
  }
  if (written.length > 0) say(`the report is in ${written.join(', ')}`)
  return written.length === files.length
}

/** Calls `write`. Throws OptionError naming the file when it fails. */
export async function writing(path: string, write: () => Promise<unknown>, flag = '--report'): Promise<void> {
  try {
    await write()
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    const why = code === 'ELOOP' ? 'it is a symbolic link, and those are not followed: name the file itself' : message
    throw new OptionError(`${flag} ${path} cannot be written (${why})`)
  }
}
