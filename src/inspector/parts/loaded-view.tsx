import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'

type Views = typeof import('../reports.ts')

/** A view of the script that is loaded when it is needed. */
export function LoadedView({ of }: { of: (views: Views) => ComponentType }) {
  const [views, setViews] = useState<Views>()
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    import('../reports.ts').then(setViews, () => setFailed(true))
  }, [])
  if (!views) {
    return <p class="pad mute">{failed ? 'The sandbox does not answer. Load the page again.' : 'Loading …'}</p>
  }
  const View = of(views)
  return <View />
}
