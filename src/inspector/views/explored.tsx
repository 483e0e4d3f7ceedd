import type { ExplorationDocument } from '../../explore/exploration-document.ts'
import { isBad, isOpen } from '../model/levels.ts'
import { Numbers } from '../parts/numbers.tsx'

/** The verdict of an exploration, and how many of its runs came out well. */
export function ExplorationNumbers({
  exploration: { verdict, results, untried },
}: {
  exploration: ExplorationDocument
}) {
  const bad = results.filter(({ level }) => isBad(level)).length
  const silent = results.filter(({ outcome }) => outcome === 'not_exercised' || outcome === 'errored').length
  const open = results.filter(({ level, outcome }) => isOpen(level) && outcome !== 'errored').length
  return (
    <Numbers
      verdict={verdict}
      counts={[
        [bad, 'went wrong', 'bad'],
        [open, 'need review', 'warn'],
        [results.length - bad - silent - open, 'came out well', 'ok'],
        [silent + (untried?.trials.length ?? 0), 'not tried or never struck', 'mute'],
      ]}
    />
  )
}
