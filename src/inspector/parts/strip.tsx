import type { Mark } from '../../control/contract.ts'
import { Icon } from './icon.tsx'

/** Most marks that fit into a row; the rest is counted. */
const MOST = 7

/** The attempts of an operation as a sentence of signs. */
export function Strip({ marks }: { marks: readonly Mark[] }) {
  const left = marks.length - MOST
  const shown = left > 0 ? marks.slice(0, MOST - 1) : marks
  return (
    <span class="strip" role="img" aria-label={marks.map(({ label }) => label).join(', ')}>
      {shown.map(({ kind, tone }, i) => (
        <span key={i} class={`${tone}${i > 0 && kind !== 'retry' ? ' joined' : ''}`}>
          <Icon name={kind} />
        </span>
      ))}
      {left > 0 && <small>+{left + 1}</small>}
    </span>
  )
}
