import { describe, expect, test } from 'vitest'
import { isEveryInterface, isLoopback, Origin } from '../../src/domain/origin.ts'

const LOOPBACK = ['http://127.0.0.1:4010', 'http://localhost:4010', 'http://[::1]:4010']

const listening = (host: string | undefined) => Origin.listening({ scheme: 'http', host, port: 4010 })

describe('a sandbox that listens on', () => {
  test.each<[string | undefined, string, string[]]>([
    [undefined, 'http://127.0.0.1:4010', LOOPBACK],
    ['127.0.0.1', 'http://127.0.0.1:4010', LOOPBACK],
    ['localhost', 'http://localhost:4010', LOOPBACK],
    ['::1', 'http://[::1]:4010', LOOPBACK],
    ['127.0.0.53', 'http://127.0.0.53:4010', ['http://127.0.0.53:4010', ...LOOPBACK]],
    ['0.0.0.0', 'http://127.0.0.1:4010', LOOPBACK],
    ['::', 'http://127.0.0.1:4010', LOOPBACK],
    ['10.0.0.7', 'http://10.0.0.7:4010', ['http://10.0.0.7:4010']],
    ['fd00::7', 'http://[fd00::7]:4010', ['http://[fd00::7]:4010']],
    ['sandbox.example', 'http://sandbox.example:4010', ['http://sandbox.example:4010']],
  ])('%s is found at %s', (host, url, urls) => {
    const origin = listening(host)
    expect(origin.url).toBe(url)
    expect(origin.urls.toSorted()).toEqual(urls.toSorted())
  })

  test('the usual port leaves it out', () => {
    expect(Origin.listening({ scheme: 'https', host: '10.0.0.7', port: 443 }).url).toBe('https://10.0.0.7')
  })
})

test.each<[string | undefined, string]>([
  ['localhost:4010', 'http://localhost:4010'],
  ['LOCALHOST:4010', 'http://localhost:4010'],
  ['[::1]:4010', 'http://[::1]:4010'],
  ['localhost:4011', 'http://127.0.0.1:4010'],
  ['localhost', 'http://127.0.0.1:4010'],
  ['evil.example', 'http://127.0.0.1:4010'],
  ['', 'http://127.0.0.1:4010'],
  [undefined, 'http://127.0.0.1:4010'],
])('a request for Host %s came under %s', (host, url) => {
  expect(listening(undefined).under(host)).toBe(url)
})

test('behind a public URL there is no other', () => {
  const origin = Origin.public('https://sandbox.example/yield')
  expect(origin.urls).toEqual(['https://sandbox.example/yield'])
  for (const host of ['sandbox.example', 'localhost:4010', 'evil.example']) {
    expect(origin.under(host)).toBe('https://sandbox.example/yield')
  }
})

test.each<[string, boolean]>([
  ['http://localhost:4010', true],
  ['http://127.0.0.1:4010', true],
  ['https://localhost:4010', false],
  ['http://localhost:4011', false],
  ['http://evil.example', false],
  ['null', false],
])('whether a browser on %s is on a page of the sandbox: %j', (url, included) => {
  expect(listening(undefined).includes(url)).toBe(included)
})

test('a page of a public URL is known by its origin, without the path', () => {
  expect(Origin.public('https://sandbox.example/yield').includes('https://sandbox.example')).toBe(true)
})

test.each<[string, boolean, boolean]>([
  ['localhost', true, false],
  ['::1', true, false],
  ['127.0.0.1', true, false],
  ['127.1.22.254', true, false],
  ['127.0.0.1.evil.example', false, false],
  ['x127.0.0.1', false, false],
  ['127.0.0', false, false],
  ['10.0.0.1', false, false],
  ['0.0.0.0', false, true],
  ['::', false, true],
])('%s: only this machine %j, every interface %j', (host, loopback, everywhere) => {
  expect([isLoopback(host), isEveryInterface(host)]).toEqual([loopback, everywhere])
})
