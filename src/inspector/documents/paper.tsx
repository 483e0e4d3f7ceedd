import type { ComponentChildren } from 'preact'
import { sentenceOf } from '../parts/numbers.tsx'

/** Parts of a page. */
export interface PaperProps {
  /** What was judged. */
  subject: string
  /** ISO 8601 UTC. */
  at?: string | undefined
  summary: string
  /** Stands below the verdict. */
  head: ComponentChildren
  foot: ComponentChildren
  children: ComponentChildren
}

/** The frame of every page: subject, moment, the verdict in one sentence, and who made it. */
export function Paper({ subject, at, summary, head, foot, children }: PaperProps) {
  return (
    <>
      <header class="paper stack">
        <p class="subject mute">
          <span>
            <b>yield-sandbox</b> {subject}
          </span>
          {at !== undefined && <time dateTime={at}>{at.slice(0, 16).replace('T', ' ')} UTC</time>}
        </p>
        <h1>{sentenceOf(summary)}</h1>
        {head}
      </header>
      <main class="paper stack">{children}</main>
      <footer class="paper mute">{foot}</footer>
    </>
  )
}
