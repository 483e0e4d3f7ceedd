/** Paths of the signs in a field of 16 by 16, drawn with a line of 1.7; the block is filled by its style. */
const PATHS = {
  request: 'M8 3.2a4.8 4.8 0 1 0 0 9.6a4.8 4.8 0 0 0 0-9.6',
  block: 'M3.5 3.5h9v9h-9z',
  reverted: 'M3.5 3.5h9v9h-9zM3 13 13 3',
  signed: 'M3 13l.8-3.2 7-7 2.4 2.4-7 7z',
  lost: 'M1.5 9.5h3.5M11 6.5h3.5M6.5 11l3-6',
  retry: 'M13 8a5 5 0 1 1-1.6-3.7M13 2v3.2H9.8',
  replayed: 'M8 4 3.5 8 8 12M13 4 8.5 8l4.5 4',
  answered: 'M3 8.5l3.2 3.2L13 5',
  refused: 'M8 3.2a4.8 4.8 0 1 0 0 9.6a4.8 4.8 0 0 0 0-9.6M4.8 11.2l6.4-6.4',
  waiting: 'M8 3.2a4.8 4.8 0 1 0 0 9.6a4.8 4.8 0 0 0 0-9.6M8 5.5V8l1.8 1.2',
  ok: 'M3 8.5l3.2 3.2L13 5',
  bad: 'M4 4l8 8M12 4l-8 8',
  warn: 'M2.5 8.6c1.5-3 3.7-2.6 5.5-.6s4 2.4 5.5-.6',
  plain: 'M8 7.9v.2',
  unknown: 'M8 3.2a4.8 4.8 0 1 0 0 9.6a4.8 4.8 0 0 0 0-9.6',
  copy: 'M5.5 5.5h7v7h-7zM10.5 5.5v-2h-7v7h2',
  brand: 'M2 13c4.5 0 5.5-9.5 12-10.5M2 8.5V13h12',
} as const

/** Name of a sign. */
export type IconName = keyof typeof PATHS

/** A sign without words: they stand beside it. */
export function Icon({ name }: { name: IconName }) {
  return (
    <svg class={`icon i-${name}`} viewBox="0 0 16 16" aria-hidden="true">
      <path d={PATHS[name]} />
    </svg>
  )
}
