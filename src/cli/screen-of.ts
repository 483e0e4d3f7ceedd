import { widthFor } from '../support/wrapped.ts'
import { wantsColour } from './wants-colour.ts'

/** How wide lines for a stream are, and whether they have colours. */
export function screenOf(stream: NodeJS.WriteStream): { width: number; colour: boolean } {
  return { width: widthFor(stream), colour: wantsColour(stream) }
}
