import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, extname } from 'node:path'
import { OptionError } from '../option-error.ts'
import { suggest } from '../support/nearest.ts'
import { shorten } from '../support/shorten.ts'
import type { Report } from '../verdict/report.ts'
import { formOfFile, REPORT_FORMS, type ReportForm } from '../verdict/report-forms.ts'

/** Where a report is to be written, and in which form. */
export interface ReportFile {
  path: string
  form: ReportForm
}

/** The form that a file's suffix asks for. Throws OptionError. */
export function reportFile(path: string): ReportFile {
  const form = formOfFile(path)
  if (form) return { path, form }
  const suffixes = Object.values(REPORT_FORMS).map((one) => one.suffixes[0])
  const fix = suggest(extname(path), suffixes)
  throw new OptionError(`--report "${shorten(path)}" has a suffix that stands for no form of report; ${fix}`)
}

/** Makes the folders of the files that a flag names, so that a run does not turn out in vain at its end. */
export async function prepareFolders(files: readonly Pick<ReportFile, 'path'>[], flag?: string): Promise<void> {
  for (const { path } of files) await writing(path, () => makeFolder(dirname(path)), flag)
}

/** With those above it. Node's own `recursive` tries for ever where nothing can be made, as in /proc. */
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

/** Writes every file. Throws OptionError naming the one that cannot be written. */
export async function writeReports(files: readonly ReportFile[], reports: readonly Report[]): Promise<void> {
  if (files.length === 0 || reports.length === 0) return
  // Loaded when somebody asks: they are long, and most runs write none.
  const { renderReports } = await import('../verdict/render/render-reports.ts')
  for (const { path, form } of files) await writing(path, () => writeFile(path, renderReports(form, reports)))
}

/** Does what writes a file. Throws OptionError naming the file. */
export async function writing(path: string, write: () => Promise<unknown>, flag = '--report'): Promise<void> {
  try {
    await write()
  } catch (error) {
    throw new OptionError(`${flag} ${path} cannot be written (${(error as Error).message})`)
  }
}
