import type { Report } from '../../control/contract.ts'
import { Fold } from './finding-card.tsx'

/** Operations, error codes and faults that the client met. */
export function Coverage({ coverage }: { coverage: Report['coverage'] }) {
  const chapters = [
    ['Operations', coverage.operations],
    ['Error codes', coverage.errors],
    ['Faults', coverage.faults],
  ] as const
  return (
    <Fold title="Coverage">
      {chapters.map(([name, all]) => (
        <section key={name}>
          <h3>
            {name}{' '}
            <small class="mute">
              {all.filter(({ exercised }) => exercised).length} of {all.length}
            </small>
          </h3>
          <ul class="chips">
            {all.map(({ id, exercised, count }) => (
              <li key={id} class={exercised ? 'on' : 'mute'}>
                {exercised ? `✓ ${id} ×${count}` : id}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </Fold>
  )
}
