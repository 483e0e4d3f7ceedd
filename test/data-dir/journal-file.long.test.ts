import { it } from 'vitest'
import { refusesFlipped } from './damaged-journal.ts'

it('a journal with any byte flipped is refused and left alone', () => refusesFlipped(() => [1, 32, 128]))
