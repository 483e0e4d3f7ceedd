#!/usr/bin/env node
import { createRequire } from 'node:module'
import { fileURLToPath } from 'node:url'

// Required, not imported: Node reads a whole file for the names of its exports otherwise.
const { CodeCache } = createRequire(import.meta.url)('../dist/code-cache.js')
const cache = new CodeCache(fileURLToPath(new URL('../dist', import.meta.url)))

await cache.load('cli.js').main(process.argv)
cache.keep()
