import { readFileSync } from 'node:fs'
import { Command, InvalidArgumentError, Option } from 'commander'
import { ControlClient, originOf } from '../control/client.ts'
import { trustingFetch } from '../control/trusting-fetch.ts'
import { columnLines } from '../render/columns.ts'
import { visibleJson, visibleText } from '../support/foreign-text.ts'
import { helpExamples } from './help-examples.ts'
import { notEmpty } from './parse-argument.ts'
import { painterFor } from './screen-of.ts'

/** `--url`, for commands that talk to a running sandbox. */
export const urlOption = () =>
  new Option('--url <url>', 'where the sandbox runs')
    .default('http://127.0.0.1:4010')
    .env('YIELD_SANDBOX_URL')
    .argParser(origin)

function origin(text: string): string {
  try {
    return originOf(text)
  } catch {
    throw new InvalidArgumentError('It must be a URL such as http://127.0.0.1:4010.')
  }
}

/** `--control-token`, for the same commands. */
export const controlTokenOption = () =>
  new Option('--control-token <t>', 'bearer token of the control interface')
    .env('YIELD_SANDBOX_CONTROL_TOKEN')
    .argParser(notEmpty)

/** `--ca`: for a sandbox with a self-signed certificate. The value is the file's text. */
export const caOption = () =>
  new Option('--ca <file>', 'PEM file of the CA to trust, for https').env('YIELD_SANDBOX_CA').argParser(pem)

function pem(path: string): string {
  try {
    const text = readFileSync(path, 'utf8')
    if (text.includes('-----BEGIN CERTIFICATE-----')) return text
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  throw new InvalidArgumentError('It holds no certificate in PEM.')
}

/** `--namespace`, for commands on one of a sandbox's namespaces. */
export const namespaceOption = () =>
  new Option('--namespace <name>', 'which of its namespaces (default: the one every sandbox has)').env(
    'YIELD_SANDBOX_NAMESPACE',
  )

/** Flags of every command that talks to a running sandbox. */
export interface ControlFlags {
  url: string
  ca?: string
  controlToken?: string
  /** Of {@link controlCommand} only. */
  namespace?: string
  json?: boolean
}

/** A command on a namespace of a running sandbox; `examples` are lines of its help, without the program's name. */
export function controlCommand(name: string, description: string, examples: readonly string[]): Command {
  return sandboxCommand(name, description, examples).addOption(namespaceOption())
}

/** A command on a running sandbox as a whole. */
export function sandboxCommand(name: string, description: string, examples: readonly string[]): Command {
  return new Command(name)
    .description(description)
    .addOption(urlOption())
    .addOption(caOption())
    .addOption(controlTokenOption())
    .option('--json', 'print the JSON of the sandbox instead of lines')
    .addHelpText('after', helpExamples(examples))
    .exitOverride()
    .showHelpAfterError('See --help.')
}

/** A command that consists of subcommands; each has examples of its own. */
export function commandGroup(name: string, description: string, commands: readonly Command[]): Command {
  const group = new Command(name).description(description)
  group.addHelpText('after', helpExamples(commands.map((command) => `${name} ${command.name()} --help`)))
  for (const command of commands) group.addCommand(command)
  return group
}

/** A client of the sandbox that the flags name, or of its namespace. */
export function clientOf({ url, controlToken, ca, namespace }: ControlFlags): ControlClient {
  return new ControlClient(url, { controlToken, namespace, ...(ca !== undefined && { fetch: trustingFetch(ca) }) })
}

/**
 * Prints rows, or their source data as one line of JSON. On a terminal the columns stand below their headings; elsewhere they are separated
 * by tabs, without headings. Control characters are made visible, so that a terminal does not obey them.
 */
export function print(
  { json }: { json?: boolean | undefined },
  data: unknown,
  rows: readonly (readonly unknown[])[],
  headings: readonly string[] = [],
): void {
  const lines = json ? [visibleJson(data)] : tableLines(headings, rows)
  process.stdout.write(lines.map((line) => `${line}\n`).join(''))
}

function tableLines(headings: readonly string[], rows: readonly (readonly unknown[])[]): string[] {
  const cells = rows.map((row) => row.map(cell))
  const { isTTY, columns } = process.stdout
  if (!isTTY || headings.length === 0) return cells.map((row) => row.join('\t'))
  const paint = painterFor(process.stdout)
  return columnLines(headings, cells, { width: columns, heading: (line) => paint('1', line) })
}

/** A value without line breaks and tabs, which would end its line or column. */
function cell(value: unknown): string {
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value ?? '')
  return visibleText(text.replace(/[\t\r\n]+/g, ' '))
}
