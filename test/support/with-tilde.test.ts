import { expect, test } from 'vitest'
import { withTilde } from '../../src/support/with-tilde.ts'

const HOME = '/home/al'

test.each([
  ['/home/al/suite.mjs', '~/suite.mjs'],
  ['/home/al', '~'],
  ['node /home/al/suite.mjs --out=/home/al/x', 'node ~/suite.mjs --out=~/x'],
  ['PATH=/home/al/bin:/home/al/sbin:/bin', 'PATH=~/bin:~/sbin:/bin'],
  ["sh '/home/al/my suite.sh'", "sh ~/'my suite.sh'"],
  ["sh -c 'node /home/al/x'", "sh -c 'node ~/x'"],
])('the home folder in %j', (text, shown) => {
  expect(withTilde(text, HOME)).toBe(shown)
  expect(withTilde(text, `${HOME}/`)).toBe(shown)
})

test.each(['/home/alice/suite.mjs', '/mnt/home/al/suite.mjs', '~/home/al', './home/al/x', 'npm test'])(
  '%j is another folder',
  (text) => {
    expect(withTilde(text, HOME)).toBe(text)
  },
)

test.each([undefined, '', '/', 'relative'])('a home folder of %j replaces nothing', (home) => {
  expect(withTilde('node /a relative/b', home)).toBe('node /a relative/b')
})

test('a home folder with characters of patterns is one text', () => {
  expect(withTilde('/home/a.b+c/x /home/aXbbc/x', '/home/a.b+c')).toBe('~/x /home/aXbbc/x')
})
