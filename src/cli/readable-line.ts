import { pino } from 'pino'
import { Typesetter } from '../render/typesetter.ts'
import { visibleText } from '../support/foreign-text.ts'

/** The terminal that a line is for. */
interface LogScreen {
  width: number
  colour: boolean
  /** True to show the namespace of a line. */
  several: boolean
}

type Fields = Record<string, unknown>

/** A line of the log, which is JSON, as a person reads it: a request in columns, anything else with its fields behind it. */
export function readableLine(line: string, screen: LogScreen): string {
  const { level, time, msg, err, namespace, ...others } = JSON.parse(line)
  const fields = screen.several && namespace !== undefined ? { namespace, ...others } : others
  const set = new Typesetter(screen)
  const when = set.paint(DIM, new Date(time).toISOString().slice(11, 23))
  if (msg === 'request') return `${when} ${requestColumns(fields, set, screen.width)}\n`
  const label = pino.levels.labels[level] ?? ''
  const cause = err ? `\n${err.stack ?? err.message}` : ''
  const words = visibleText([msg, ...pairs(fields)].join(' ') + cause)
  return `${when} ${set.paint(LEVEL_COLOURS[label] ?? DIM, label.padEnd(5))} ${words}\n`
}

const DIM = '2'
const RED = '31'
const YELLOW = '33'
const LEVEL_COLOURS: Record<string, string> = { warn: YELLOW, error: RED, fatal: RED, info: '36' }
/** Colours by the first digit of a status. */
const STATUS_COLOURS: Record<string, string> = { 2: '32', 3: '36', 4: YELLOW, 5: RED }

/** Columns beside the path: time, method, status, milliseconds, and the gaps between them. */
const OTHER_COLUMNS = 36
/** Bounds of the path's column. */
const [NARROWEST, WIDEST] = [30, 60]

/** Method, path, status, milliseconds, then what struck it or became of it; the ids come last. */
function requestColumns(fields: Fields, set: Typesetter, width: number): string {
  const { method, path, status, code, ended, fault, fault_explanation, ms, request_id, ...others } = fields
  const room = Math.min(WIDEST, Math.max(NARROWEST, width - OTHER_COLUMNS))
  const answer = String(status ?? '-')
  const colour = ended === 'answered' ? (STATUS_COLOURS[answer[0] ?? ''] ?? DIM) : RED
  const cells = [
    text(method).padEnd(6),
    text(path).padEnd(room),
    set.paint(colour, answer.padStart(3)),
    set.paint(DIM, `${text(ms)} ms`.padStart(8)),
    ...(code === undefined ? [] : [set.paint(colour, text(code))]),
    ...(ended === 'answered' || ended === undefined ? [] : [set.paint(RED, text(ended))]),
    ...(fault === undefined ? [] : [set.paint(`${YELLOW};1`, `${text(fault)} ${text(fault_explanation)}`)]),
    set.paint(DIM, [...pairs(others), text(request_id)].join(' ')),
  ]
  return cells.join(' ').trimEnd()
}

function pairs(fields: Fields): string[] {
  return Object.entries(fields).map(([name, value]) => `${name}=${text(value)}`)
}

function text(value: unknown): string {
  return visibleText(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/[\n\t]/g, ' ')
}
