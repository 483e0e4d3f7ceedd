#!/usr/bin/env node
// CommonJS, as package.json beside it says: Node's loader of ES modules would take a tenth of a start.
const { join } = require('node:path')
const { sayFirstWords } = require('../dist/first-words.js')

const said = sayFirstWords(process.argv)
const { CodeCache } = require('../dist/code-cache.js')

const cache = new CodeCache(join(__dirname, '../dist'))
void cache
  .load('cli.js')
  .main(process.argv, said)
  .then(() => cache.keep())
