import { VIEWS, type ViewName } from './address.ts'

/** Work of a key in the view that is shown. */
export type KeyHandlers = Partial<Record<string, () => void>>

let ofView: KeyHandlers = {}

/** Sets what the keys do in the view that is shown; each view calls it when it appears. @returns a function that ends it */
export function useKeys(handlers: KeyHandlers): () => void {
  ofView = handlers
  return () => {
    if (ofView === handlers) ofView = {}
  }
}

/** Keys that work in every view. */
export interface GeneralKeys {
  show(view: ViewName): void
  help(): void
  back(): void
}

/** Listens to the keyboard. No key works while somebody types, nor with Ctrl, Alt or Meta. */
export function listenToKeys(general: GeneralKeys): () => void {
  const listen = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented) return
    const { target, key } = event
    const isTyping = target instanceof HTMLElement && target.matches('input:not([type=checkbox]),textarea,select')
    if (key === 'Escape') {
      if (isTyping) target.blur()
      return general.back()
    }
    if (isTyping) return
    const view = VIEWS[Number(key) - 1]
    const work = view ? () => general.show(view) : key === '?' ? general.help : ofView[key]
    if (!work || (key === 'Enter' && target instanceof HTMLElement && target.matches('a,button,summary'))) return
    event.preventDefault()
    work()
  }
  addEventListener('keydown', listen)
  return () => removeEventListener('keydown', listen)
}
