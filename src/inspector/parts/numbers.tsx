import type { Report, Tone } from '../../control/contract.ts'
import { capital } from '../model/levels.ts'
import { Facts } from './facts.tsx'
import { Icon, type IconName } from './icon.tsx'

/** A number of the head: how many, of what, and how grave. */
export type Count = readonly [count: number, name: string, tone: 'bad' | 'ok' | 'mute' | 'warn']

const SIGNS: Record<Count[2], IconName> = { bad: 'bad', ok: 'ok', mute: 'unknown', warn: 'warn' }

/** Counts with their signs, a line each. */
export function Counts({ counts }: { counts: readonly Count[] }) {
  return (
    <Facts
      class=""
      facts={counts.map(([count, name, tone]) => [
        name,
        <>
          <Icon name={SIGNS[tone]} /> {count}
        </>,
        count > 0 ? tone : 'mute',
      ])}
    />
  )
}

/** What a verdict counts: rules that were broken, kept, and not tested. */
export function countsOf({
  contradicted,
  proved,
  unproved,
}: Pick<Report, 'proved' | 'contradicted' | 'unproved'>): Count[] {
  return [
    [contradicted, 'broken', 'bad'],
    [proved, 'rules kept', 'ok'],
    [unproved, 'not tested', 'mute'],
  ]
}

/** A verdict in one word and numbers, with a bar of their shares. */
export function Numbers({ verdict, counts }: { verdict: string; counts: readonly Count[] }) {
  return (
    <div class={`numbers ${verdict}`}>
      <span class={`pill verdict ${toneOfVerdict(verdict)}`}>{verdict}</span>
      <Counts counts={counts} />
      <div class="track" aria-hidden="true">
        {counts.map(([count, name, tone]) => count > 0 && <i key={name} class={tone} style={{ flex: count }} />)}
      </div>
    </div>
  )
}

const TONES: Record<string, Tone> = { passed: 'ok', failed: 'bad', inconclusive: 'warn' }

/** Tone of a verdict. */
export function toneOfVerdict(verdict: string): Tone {
  return TONES[verdict] ?? 'plain'
}

/** A summary without the word that stands beside it: "Failed: money went astray." → "Money went astray." */
export function sentenceOf(summary: string): string {
  const said = summary.replace(/^(passed|failed|inconclusive)[^:]*: /i, '')
  return capital(said)
}
