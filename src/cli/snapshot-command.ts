import { existsSync } from 'node:fs'
import { Command } from 'commander'
import { OptionError } from '../option-error.ts'
import { readSnapshot, type SnapshotContent } from '../snapshot/snapshot-content.ts'
import { checkSnapshot } from '../snapshot/snapshot-form.ts'
import { aboutFile, readSnapshotFile, saveFile } from '../snapshot/snapshot-path.ts'
import { SNAPSHOT_COLLECTIONS } from '../snapshot/snapshot-schema.ts'
import { type ControlFlags, clientOf, commandGroup, controlCommand, print } from './control-options.ts'

/** `snapshot save|show`: the state of a sandbox as a file. */
export function snapshotCommand(): Command {
  return commandGroup('snapshot', 'The state of a sandbox as a file.', [saveCommand(), showCommand()])
}

function saveCommand(): Command {
  return controlCommand('save', 'Save the state of a running sandbox in a file, without secrets.', [
    'snapshot save report-42.snapshot',
    'snapshot save ./before.snapshot --namespace pull-request-7 --force',
  ])
    .argument('<file>', 'where to; only you may read it')
    .option('--force', 'replace the file if it is there already')
    .action(async (file: string, flags: ControlFlags & { force?: boolean }) => {
      const { force = false } = flags
      if (!force && existsSync(file)) throw there(file)
      const text = await clientOf(flags).snapshot()
      const { bytes } = checkSnapshot(Buffer.from(text))
      if (!(await saved(file, text, force))) throw there(file)
      print(flags, { file, bytes }, [['saved', file, bytes]])
    })
}

function there(file: string): OptionError {
  return new OptionError(`${file} is there already; name another file, or give --force to replace it`)
}

async function saved(file: string, text: string, force: boolean): Promise<boolean> {
  try {
    return await saveFile(file, text, { force })
  } catch (error) {
    throw new OptionError(`${file} cannot be written (${(error as Error).message}); name another file`)
  }
}

function showCommand(): Command {
  return new Command('show')
    .description('Show what a saved state holds. Checks all of the file; needs no sandbox.')
    .argument('<file>', 'a file that snapshot save wrote')
    .option('--json', 'print JSON instead of tab-separated lines')
    .addHelpText('after', '\nExample:\n  yield-sandbox snapshot show report-42.snapshot')
    .exitOverride()
    .action(async (file: string, flags: { json?: boolean }) => {
      const bytes = await readSnapshotFile(file)
      const shown = summaryOf(await aboutFile(file, () => readSnapshot(bytes)))
      const { chains, ...rest } = shown
      print(flags, shown, [
        ...Object.entries(rest),
        ...chains.map(({ chain_id, block, kept_blocks, forked_at }) => {
          const fork = forked_at === null ? [] : [`fork of block ${forked_at}`]
          return ['chain', chain_id, `block ${block}`, `${kept_blocks} blocks kept`, ...fork]
        }),
      ])
    })
}

function summaryOf({ version, form, bytes, about, puts, chains }: SnapshotContent) {
  const counts = Object.fromEntries(
    SNAPSHOT_COLLECTIONS.map((name) => [name, puts.filter(([collection]) => collection === name).length]),
  )
  const { taken_at, namespace, clock, seed } = about
  return {
    version,
    form,
    bytes,
    taken_at,
    namespace,
    business_time: new Date(clock.now).toISOString(),
    frozen: clock.frozen,
    seed,
    ...counts,
    chains: chains.map(({ chain_id, checkpoint, blocks }) => ({
      chain_id,
      block: Number(checkpoint.block.number),
      kept_blocks: blocks.reduce((sum, segment) => sum + segment.counts.length, 0),
      forked_at: checkpoint.forked ?? null,
    })),
  }
}
