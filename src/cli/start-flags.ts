import type { TSchema } from '@sinclair/typebox'
import { InvalidArgumentError, Option } from 'commander'
import { objectionsTo } from '../check-options.ts'
import { OptionError } from '../option-error.ts'
import { defaultOf, environmentOf, START_OPTIONS, type StartOption } from '../options.ts'
import { wordsOf } from '../support/issue.ts'
import { constantsOf } from '../support/issue-words.ts'
import { choosing } from './parse-argument.ts'

type Name = keyof typeof START_OPTIONS

/** The flags of `start`. */
export function startFlags(): Option[] {
  return (Object.keys(START_OPTIONS) as Name[])
    .filter((name) => START_OPTIONS[name].flag !== '')
    .map((name) => startFlag(name))
}

/** The flag of an option, with its environment variable; a command in which it has another default describes it in other words. */
export function startFlag(name: Name, description = helpOf(START_OPTIONS[name])): Option {
  const { flag, schema, parse, secret }: StartOption = START_OPTIONS[name]
  const option = new Option(flag, description).env(environmentOf(name))
  const words = constantsOf(schema)
  const integers: TSchema[] = parse ? [] : (schema.anyOf ?? [schema])
  const takesNumber = integers.some(({ type }) => type === 'integer')
  if (schema.type === 'boolean') return option
  if (words) return choosing(option, words.map(String))
  return option.argParser((text) => {
    const value = takesNumber && /^\d+$/.test(text) ? Number(text) : text
    const [issue] = objectionsTo({ [name]: value })
    if (!issue) return value
    // To an InvalidArgumentError, commander adds the argument.
    if (secret) throw new OptionError(`${flag.split(' ')[0]} ${wordsOf(issue)}`)
    throw new InvalidArgumentError(
      issue.expected === undefined ? `${wordsOf(issue)}.` : `It must be ${issue.expected}.`,
    )
  })
}

function helpOf(option: StartOption): string {
  return typeof option.default === 'boolean'
    ? option.description
    : `${option.description} (default: ${defaultOf(option)})`
}
