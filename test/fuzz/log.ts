import type { Findings } from './findings.ts'
import type { Weather } from './weather.ts'

interface Line {
  level: number
  msg: string
  chain_id?: string
  reason?: string
  err?: { message?: string; stack?: string }
}

/** Errors that the harness is to blame for: a chain that was shot at is lost now and then, and is replaced. */
const BROUGHT_ABOUT =
  /^the chain (ended|hangs|could not be restarted)|^a fault failed|^what a fault broke could not be mended|chain_unavailable|sandbox_starting|^service_unavailable service_unavailable: The service is unavailable\.$/

/** Whatever the sandbox logged as an error, or wrote past its log. */
export function readLog(log: string, weather: Weather, findings: Findings): void {
  for (const text of log.split('\n').filter(Boolean)) {
    const line = lineOf(text)
    if (line && (line.level < 50 || (line.level === 50 && excused(line, weather)))) continue
    const reason = line
      ? `${line.msg}: ${line.err?.message ?? line.reason ?? ''}`
      : text.replace(/\d+/g, 'n').slice(0, 200)
    const bytes = Buffer.from(line?.err?.stack ?? text)
    findings.add(
      'all',
      'log',
      { kind: 'log', reason: reason.replace(/0x[0-9a-f]+|\d+/g, 'n').slice(0, 200) },
      { index: -1, bytes },
    )
  }
}

function excused({ msg, chain_id, err }: Line, weather: Weather): boolean {
  const chain = chain_id ?? /\bchain (\d+)/.exec(err?.message ?? '')?.[1]
  return BROUGHT_ABOUT.test(`${msg} ${err?.message}`) && (weather === 'stormy' || chain !== '31337')
}

function lineOf(text: string): Line | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
