import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nearest, suggest } from '../../src/support/nearest.ts'

describe('the word that was meant', () => {
  test.each<[string, string, string[], string | undefined]>([
    ['the word itself', 'deposit', ['withdraw', 'deposit'], 'deposit'],
    ['a letter too few', 'depsit', ['withdraw', 'deposit'], 'deposit'],
    ['a letter too many', 'deeposit', ['withdraw', 'deposit'], 'deposit'],
    ['another letter', 'depozit', ['withdraw', 'deposit'], 'deposit'],
    ['two letters swapped, which is one slip', 'ab', ['ba'], 'ba'],
    ['a swap further on', 'abdc', ['abcd'], 'abcd'],
    ['two letters of two words', 'ab', ['cd'], undefined],
    ['case does not count', 'DEPOSIT', ['withdraw', 'Deposit'], 'Deposit'],
    ['one slip in a short word', 'x', ['y'], 'y'],
    ['two slips in six letters', 'abcdXY', ['abcdef'], 'abcdef'],
    ['two slips in five letters', 'abcXY', ['abcde'], undefined],
    ['a letter at the place before, and another', 'abcpq', ['abcqr'], undefined],
    ['a letter at the place after, and another', 'abcpq', ['abcrp'], undefined],
    ['a swap and another slip in five letters', 'abdcX', ['abcde'], undefined],
    ['three slips in eight letters', 'abcdeXYZ', ['abcdefgh'], undefined],
    ['two letters too few of eight', 'abcdef', ['abcdefgh'], 'abcdefgh'],
    ['three letters too few of nine', 'abcdef', ['abcdefghi'], undefined],
    ['the nearest, not the first', 'abcdXY', ['abcdef', 'abcdeY'], 'abcdeY'],
    ['the first of two as near', 'abcd', ['abce', 'abcf'], 'abce'],
    ['the better part of the word', 'withdraw-portfolio', ['deposit', 'withdraw-po'], 'withdraw-po'],
    ['half of the word', 'withdrawwithdraw', ['withdraw'], undefined],
    ['the end of the word', 'portfolio-withdraw-po', ['withdraw-po'], undefined],
    ['nothing to choose from', 'deposit', [], undefined],
  ])('%s: %s', (_what, word, candidates, meant) => {
    expect(nearest(word, candidates)).toBe(meant)
  })

  test('is found whatever the slip', () => {
    const word = fc.stringMatching(/^[a-z]{3,12}$/)
    fc.assert(
      fc.property(word, fc.nat(), fc.constantFrom('left out', 'doubled', 'replaced', 'swapped'), (meant, n, slip) => {
        const at = n % (meant.length - 1)
        const [before, letter, next, after] = [meant.slice(0, at), meant[at]!, meant[at + 1]!, meant.slice(at + 2)]
        const typed = {
          'left out': `${next}`,
          doubled: `${letter}${letter}${next}`,
          replaced: `#${next}`,
          swapped: `${next}${letter}`,
        }[slip]
        expect(nearest(`${before}${typed}${after}`, [meant])).toBe(meant)
      }),
    )
  })
})

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `choice-${i}`)

test.each<[string, string, string[], string]>([
  ['the near miss', 'depozit', ['withdraw', 'deposit'], 'did you mean "deposit"?'],
  ['the whole choice', 'x', ['deposit', 'withdraw'], 'use one of deposit, withdraw'],
  ['a choice of twenty', '?', numbered(20), `use one of ${numbered(20).join(', ')}`],
  ['the beginning of a longer one', '?', numbered(21), `use one of ${numbered(20).join(', ')}, …`],
  ['leaving it out', 'x', [], 'there is none to choose from; leave it out'],
])('what is suggested: %s', (_what, word, candidates, sentence) => {
  expect(suggest(word, candidates)).toBe(sentence)
})
