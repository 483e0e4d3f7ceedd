import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { plainData, plainText } from '../../render/safe-text.ts'
import { sentenceOf } from '../parts/numbers.tsx'
import { counted, idInWords, isBad, rankOf } from './levels.ts'
import type { FileContent, OpenedFile } from './opened-file.ts'

/** Most bytes of a file: what a page can show without a halt. */
const MOST_BYTES = 64 * 1024 * 1024

/** Reads a file: JSON, or one of our own pages, which hold theirs. */
export async function readFile(file: File): Promise<OpenedFile> {
  const content = await file
    .slice(0, MOST_BYTES + 1)
    .text()
    .then(contentOf)
    .catch((): FileContent => ({ kind: 'none', why: 'cannot be read as JSON, nor as a page of yield-sandbox' }))
  try {
    return { name: file.name, line: headlineOf(file.name, content), ...content }
  } catch {
    return refused(file.name)
  }
}

const OTHERWISE = 'is not as this version of yield-sandbox writes it'

/** A file that cannot be shown, and one sentence on the reason. */
export function refused(name: string, why = OTHERWISE): OpenedFile {
  return { name, kind: 'none', why, line: { tone: 'warn', sentence: `${plainText(name)} ${why}.` } }
}

/** The data in a text, and what it is. Throws SyntaxError when there is none. */
function contentOf(text: string): FileContent {
  if (text.length > MOST_BYTES) return { kind: 'none', why: 'is larger than 64 MiB' }
  const marks = [...text.matchAll(/<script type="application\/json" id="(?:report|exploration|certificate)">/g)]
  const mark = /^\s*</.test(text) ? marks.at(-1) : undefined // the last one: what a page shows may look like one
  const begin = mark ? mark.index + mark[0].length : 0
  const data = plainData(JSON.parse(mark ? text.slice(begin, text.indexOf('</script>', begin)) : text))
  const { evidence, digest, results, baseline, findings, coverage, reports } = Object(data) as Record<string, unknown>
  if (digest && Object(evidence).form && data.words) return { kind: 'certificate', data }
  if (Array.isArray(results) && baseline) return { kind: 'exploration', data: withWords(data) }
  if (Array.isArray(reports) || (Array.isArray(findings) && coverage)) return { kind: 'report', data }
  return { kind: 'none', why: 'holds no report, exploration or certificate of yield-sandbox' }
}

/** Words that files of earlier versions lack. */
function withWords(data: ExplorationDocument): ExplorationDocument {
  return { ...data, outcomes: data.outcomes ?? {}, remarks: data.remarks ?? [] }
}

/** The sentence at the top for a file: is anybody's money wrong? */
function headlineOf(name: string, file: FileContent): OpenedFile['line'] {
  if (file.kind === 'none') return { tone: 'warn', sentence: `${plainText(name)} ${file.why}.` }
  const { data } = file
  const tone = data.verdict === 'failed' ? 'bad' : data.verdict === 'passed' ? 'ok' : 'warn'
  return { tone, sentence: (file.kind === 'exploration' && badRuns(file.data)) || sentenceOf(data.summary) }
}

/** "Paid twice in 12 of 64 runs, and no test noticed." Empty if nothing went wrong. */
function badRuns({ results, outcomes }: ExplorationDocument): string {
  const bad = results.filter(({ level }) => isBad(level)).sort((a, b) => rankOf(a.level) - rankOf(b.level))
  const [worst] = bad
  if (!worst) return ''
  const alike = bad.filter(({ outcome }) => outcome === worst.outcome)
  const unnoticed = alike.filter(({ end }) => end === '0').length
  const noticed =
    unnoticed === alike.length
      ? 'no test noticed'
      : unnoticed > 0
        ? `no test noticed ${unnoticed}`
        : 'the tests noticed'
  const name = outcomes[worst.outcome]?.name ?? idInWords(worst.outcome)
  const more = bad.length > alike.length ? ` ${counted(bad.length - alike.length, 'other run')} went wrong.` : ''
  return `${name.charAt(0).toUpperCase()}${name.slice(1)} in ${alike.length} of ${counted(results.length, 'run')}, and ${noticed}.${more}`
}
