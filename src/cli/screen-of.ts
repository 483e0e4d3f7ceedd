import { widthFor } from '../render/typesetter.ts'

/** How wide lines for a stream are, and whether they have colours. */
export function screenOf(stream: NodeJS.WriteStream): { width: number; colour: boolean } {
  return { width: widthFor(stream), colour: wantsColour(stream) }
}

/** @returns true if a stream is to be written in colours: on a terminal that knows some, unless NO_COLOR is set (https://no-color.org) */
export function wantsColour(stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR, TERM } = process.env
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
