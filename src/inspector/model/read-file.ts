import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { plainText } from '../../render/safe-text.ts'
import { sentenceOf, toneOfVerdict } from '../parts/numbers.tsx'
import type { FileContent, OpenedFile } from './opened-file.ts'

/** Most bytes of a file: what a page can show without a halt. */
const MOST_BYTES = 64 * 1024 * 1024

/** Reads a file: JSON, or one of our own pages, which hold theirs. */
export async function readFile(file: File): Promise<OpenedFile> {
  const { name } = file
  const content = await file
    .slice(0, MOST_BYTES + 1)
    .text()
    .then(contentOf)
    .catch(() => 'cannot be read as JSON, nor as a page of yield-sandbox')
  if (typeof content === 'string') return refused(name, content)
  try {
    return { name, line: headlineOf(content), ...content }
  } catch {
    return refused(name)
  }
}

/** A file that cannot be shown, and one sentence on the reason. */
export function refused(name: string, why = 'is not as this version of yield-sandbox writes it'): OpenedFile {
  return { name, kind: 'none', line: { tone: 'warn', sentence: `${plainText(name)} ${why}.` } }
}

/** The data in a text, and what it is, or why it is nothing. Throws SyntaxError when there is none. */
function contentOf(text: string): Exclude<FileContent, { kind: 'none' }> | string {
  if (text.length > MOST_BYTES) return 'is larger than 64 MiB'
  const marks = [...text.matchAll(/<script type="application\/json" id="(?:report|exploration|certificate)">/g)]
  const mark = /^\s*</.test(text) ? marks.at(-1) : undefined // the last one: what a page shows may look like one
  const begin = mark ? mark.index + mark[0].length : 0
  const json = mark ? text.slice(begin, text.indexOf('</script>', begin)) : text
  const data = JSON.parse(json, (_, value) => (typeof value === 'string' ? plainText(value) : value))
  const { evidence, digest, results, baseline, findings, coverage, reports } = Object(data) as Record<string, unknown>
  if (digest && Object(evidence).form && data.words) return { kind: 'certificate', data }
  if (Array.isArray(results) && baseline) return { kind: 'exploration', data: withWords(data) }
  if (Array.isArray(reports) || (Array.isArray(findings) && coverage)) return { kind: 'report', data }
  return 'holds no report, exploration or certificate of yield-sandbox'
}

/** Words that files of earlier versions lack. */
function withWords(data: ExplorationDocument): ExplorationDocument {
  return { ...data, outcomes: data.outcomes ?? {}, remarks: data.remarks ?? [] }
}

/** The sentence at the top for a file: is anybody's money wrong? */
function headlineOf({ data }: Exclude<FileContent, { kind: 'none' }>): OpenedFile['line'] {
  return {
    tone: toneOfVerdict(data.verdict),
    sentence: 'headline' in data && data.headline ? data.headline : sentenceOf(data.summary),
  }
}
