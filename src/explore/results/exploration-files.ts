import { reportFile, writeEach } from '../../exec/report-files.ts'
import { OptionError } from '../../option-error.ts'
import { shorten } from '../../support/foreign-text.ts'
import type { Exploration } from '../exploration.ts'
import type { ExplorationForm } from '../render/render-exploration.ts'

/** Where an exploration is to be written, and in which form. */
export interface ExplorationFile {
  path: string
  form: ExplorationForm
}

/** The form of an exploration that a file's suffix asks for. Throws OptionError. */
export function explorationFile(path: string): ExplorationFile {
  const { form } = reportFile(path)
  if (form !== 'sarif') return { path, form }
  throw new OptionError(
    `--report "${shorten(path)}": SARIF is about places in code, and explore about runs; use .html, .json, .xml (JUnit), .md or .txt`,
  )
}

/** Writes every file. Resolves to false when one of them could not be written, which has been said then. */
export async function writeExploration(
  files: readonly ExplorationFile[],
  exploration: Exploration,
  say: (line: string) => void,
): Promise<boolean> {
  if (files.length === 0) return true
  // Loaded when somebody asks: they are long, and most runs write none.
  const { renderExploration } = await import('../render/render-exploration.ts')
  return writeEach(files, (form) => renderExploration(form, exploration), say)
}
