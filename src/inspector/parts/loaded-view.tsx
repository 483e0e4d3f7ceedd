import { signal } from '@preact/signals-core'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

type Views = typeof import('../reports.ts')

/** The views of the second script; null if it could not be loaded. A signal, since its views read signals: then the page is drawn as a whole. */
const loaded = signal<Views | null | undefined>(undefined)

/** A view of the script that is loaded when it is needed. */
export function LoadedView({ of }: { of: (views: Views) => ComponentType }) {
  const views = loaded.value
  useEffect(() => {
    import('../reports.ts').then(
      (all) => {
        loaded.value = all
      },
      () => {
        loaded.value = null
      },
    )
  }, [])
  if (!views) {
    return <p class="pad mute">{views === null ? 'The sandbox does not answer. Load the page again.' : 'Loading …'}</p>
  }
  const View = of(views)
  return <View />
}
