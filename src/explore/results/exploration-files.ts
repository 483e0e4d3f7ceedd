import { reportFile, writeEach } from '../../exec/report-files.ts'
import { OptionError } from '../../option-error.ts'
import { shorten } from '../../support/foreign-text.ts'
import { withTilde } from '../../support/with-tilde.ts'
import type { Exploration } from '../exploration.ts'
import type { ExplorationForm } from '../render/render-exploration.ts'

/** Path and form of a report on an exploration. */
export interface ExplorationFile {
  path: string
  form: ExplorationForm
}

/** Derives the form from the file's suffix. Throws OptionError. */
export function explorationFile(path: string): ExplorationFile {
  const { form } = reportFile(path)
  if (form !== 'sarif') return { path, form }
  throw new OptionError(
    `--report "${shorten(path)}": SARIF is about places in code, and explore about runs; use .html, .json, .xml (JUnit), .md or .txt`,
  )
}

/** An exploration to be shown to others: paths in the home folder begin with `~`. Undefined: there is none. */
export function sharedExploration(exploration: Exploration, home: string | undefined): Exploration {
  const short = (text: string) => withTilde(text, home)
  return {
    ...exploration,
    command: exploration.command.map(short),
    results: exploration.results.map((result) => ({
      ...result,
      repeat: short(result.repeat),
      ...(result.smallest && { smallest: { ...result.smallest, file: short(result.smallest.file) } }),
    })),
    ...(exploration.assumptions && {
      assumptions: exploration.assumptions.map((one) => ({ ...one, repeat: short(one.repeat) })),
    }),
  }
}

/** Writes every file, without the path of the home folder. Resolves to false when one of them could not be written, which it reports. */
export async function writeExploration(
  files: readonly ExplorationFile[],
  exploration: Exploration,
  say: (line: string) => void,
  home: string | undefined,
): Promise<boolean> {
  if (files.length === 0) return true
  // Loaded on demand: the renderers are long, and most runs write no report.
  const { renderExploration } = await import('../render/render-exploration.ts')
  const shared = sharedExploration(exploration, home)
  return writeEach(files, (form) => renderExploration(form, shared), say)
}
