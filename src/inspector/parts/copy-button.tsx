import { useState } from 'preact/hooks'
import { browserTime } from '../model/browser-time.ts'
import { Icon } from './icon.tsx'
import { onPaper } from './medium.ts'

/** Copies a text; says that it did for a moment. */
export function CopyButton({ text, label = 'Copy' }: { text: string; label?: string }) {
  const [done, setDone] = useState<boolean | null>(null)
  const copy = () => {
    void copied(text).then((ok) => {
      setDone(ok)
      browserTime.after(1500, () => setDone(null))
    })
  }
  return (
    <button type="button" class="button small" onClick={copy}>
      <Icon name={done ? 'ok' : 'copy'} />{' '}
      <span aria-live="polite">{done === null ? label : done ? 'Copied' : 'Select it by hand'}</span>
    </button>
  )
}

/** @returns true if the text is in the clipboard; a page by http from another machine has no clipboard */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}

/** A command or a text in a box, with a button that copies it; on paper without. */
export function CopyBox({ text, label }: { text: string; label: string }) {
  return (
    <figure class="copybox" aria-label={label}>
      {!onPaper && <CopyButton text={text} />}
      <pre tabIndex={onPaper ? undefined : 0}>
        <code>{text}</code>
      </pre>
    </figure>
  )
}
