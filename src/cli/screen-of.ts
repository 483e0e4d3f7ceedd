import { widthFor } from '../render/typesetter.ts'

/** Width of lines for a stream, and true if they may have colours. */
export function screenOf(stream: NodeJS.WriteStream): { width: number; colour: boolean } {
  return { width: widthFor(stream), colour: wantsColour(stream) }
}

/** @returns true if the stream is a terminal with colours and NO_COLOR is not set (https://no-color.org) */
export function wantsColour(stream: { isTTY?: boolean }): boolean {
  const { NO_COLOR, TERM } = process.env
  return stream.isTTY === true && !NO_COLOR && TERM !== 'dumb'
}
