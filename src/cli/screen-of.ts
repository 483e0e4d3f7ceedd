import { Typesetter, widthFor } from '../render/typesetter.ts'

/** Width of lines for a stream, and true if they may have colours. */
export function screenOf(stream: NodeJS.WriteStream): { width: number; colour: boolean } {
  return { width: widthFor(stream), colour: wantsColour(stream) }
}

/** Values of FORCE_COLOR that switch colours off. */
const OFF = new Set(['0', 'false'])

/**
 * Decides on colours as Node does: FORCE_COLOR comes first, then NO_COLOR (https://no-color.org), and without either a terminal has colours
 * unless TERM is `dumb`.
 */
export function wantsColour(stream: { isTTY?: boolean | undefined }): boolean {
  const { FORCE_COLOR, NO_COLOR, TERM } = process.env
  if (FORCE_COLOR !== undefined) return !OFF.has(FORCE_COLOR)
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}

/** Paints texts by Select Graphic Rendition, where the stream may have colours. */
export function painterFor(stream: { isTTY?: boolean | undefined }): (sgr: string, text: string) => string {
  const set = new Typesetter({ colour: wantsColour(stream) })
  return (sgr, text) => set.paint(sgr, text)
}
