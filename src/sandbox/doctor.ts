import { join, resolve } from 'node:path'
import { recoverTransactionAddress } from 'viem'
import { keccak256 } from 'viem/utils'
import { type ArchiveEntry, BlockArchive } from '../chain/archive/block-archive.ts'
import { type ChainEntry, type ChainOperation, MemoryJournal, tipOf } from '../chain/history/chain-journal.ts'
import { DataDirectory } from '../data-dir/data-directory.ts'
import { DataDirectoryError } from '../data-dir/data-directory-error.ts'
import { DirectoryLock } from '../data-dir/directory-lock.ts'
import {
  type InspectedDirectory,
  type InspectedJournal,
  inspectDirectory,
  withoutPath,
} from '../data-dir/inspect-directory.ts'
import { fileOfJournal, MANIFEST } from '../data-dir/manifest.ts'
import { NamespaceFolders } from '../data-dir/namespace-folders.ts'
import type { KeptNamespace } from '../domain/ports/namespace-registry.ts'
import type { Hex } from '../domain/records.ts'
import { isSegment, type LedgerChanges, type LedgerEntry, segmentIn } from '../store/ledger-entry.ts'
import { RECORDS_PER_ENTRY } from '../store/ledger-journal.ts'
import type { Logger } from '../support/logger.ts'

/** Finding on one file, or on a part of the directory. */
export interface Diagnosis {
  file: string
  state: 'whole' | 'damaged' | 'lost' | 'salvaged'
  detail: string
}

/**
 * Reads a data directory without starting or changing it, and reports what is whole, what is damaged, and what a salvage would lose. With
 * `salvage` it makes that copy, at a path where nothing exists yet. Throws DataDirectoryError if a sandbox uses the directory.
 */
export async function examine(given: string, options: { salvage?: string; log: Logger }): Promise<Diagnosis[]> {
  const path = resolve(given)
  const lock = await DirectoryLock.acquireToRead(path)
  try {
    const found = await examineOne(path, '', options)
    const isSaved = found.some(({ state }) => state === 'salvaged')
    const { salvage: _, ...toRead } = options // namespaces without the directory that they are in cannot be started
    found.push(...(await examineDefault(path, isSaved ? options.salvage : undefined)))
    const folders = new NamespaceFolders(path)
    for (const life of await folders.lives()) {
      found.push(...(await examineNamespace(folders, life, isSaved ? options : toRead)))
    }
    return found
  } finally {
    await lock?.release()
  }
}

/** Examines the file of a default namespace that began with a snapshot, and copies it. */
async function examineDefault(path: string, salvage: string | undefined): Promise<Diagnosis[]> {
  const file = 'namespace.json'
  try {
    const kept = await new NamespaceFolders(path).peekDefault()
    if (!kept) return []
    if (salvage !== undefined) await new NamespaceFolders(salvage).keep(undefined, kept)
    return [{ file, state: 'whole', detail: `seed ${kept.seed}` }]
  } catch (error) {
    return [{ file, state: 'damaged', detail: withoutPath(error) }]
  }
}

async function examineNamespace(
  folders: NamespaceFolders,
  life: string,
  { salvage, log }: { salvage?: string; log: Logger },
): Promise<Diagnosis[]> {
  const place = join('namespaces', life)
  const file = join(place, 'namespace.json')
  let kept: KeptNamespace | null
  try {
    kept = await folders.peek(life)
  } catch (error) {
    const detail = `it cannot be read (${withoutPath(error)}): the whole namespace`
    return [
      { file, state: 'damaged', detail: withoutPath(error) },
      { file: place, state: 'lost', detail },
    ]
  }
  if (!kept) return [] // an interrupted deletion: a start removes the rest
  const copy = salvage === undefined ? undefined : new NamespaceFolders(salvage)
  const found = await examineOne(folders.of(life), place, { log, ...(copy && { salvage: copy.of(life) }) })
  const isSaved = found.some(({ state }) => state === 'salvaged')
  if (copy && isSaved) await copy.keep(life, kept)
  return [{ file, state: 'whole', detail: `seed ${kept.seed}` }, ...found]
}

async function examineOne(
  path: string,
  place: string,
  { salvage, log }: { salvage?: string; log: Logger },
): Promise<Diagnosis[]> {
  const directory = await inspectDirectory(path)
  const found = statesOf(directory, place)
  const whole = directory.damages.size === 0
  if (whole && salvage === undefined) return found
  let saved: Salvage
  try {
    saved = await salvageOf(directory)
  } catch (error) {
    return [...found, { file: place || 'all of it', state: 'lost', detail: withoutPath(error) }]
  }
  found.push(...saved.lost.map((detail): Diagnosis => ({ file: place || 'directory', state: 'lost', detail })))
  if (salvage === undefined) return found
  await writeSalvage(directory, saved, { to: salvage, log })
  return [...found, { file: place || 'directory', state: 'salvaged', detail: salvage }]
}

function statesOf({ manifest, journals, damages }: InspectedDirectory, place: string): Diagnosis[] {
  const found: Diagnosis[] = []
  const order = damages.get('all files')
  const say = (name: string, detail: string) => {
    const damage = damages.get(name)
    found.push({ file: join(place, name), state: damage === undefined ? 'whole' : 'damaged', detail: damage ?? detail })
  }
  const end = manifest?.clean ? 'closed in order' : 'not closed in order'
  say(MANIFEST, `format ${manifest?.format}, written by ${manifest?.version}, seed ${manifest?.seed}, ${end}`)
  for (const [name, { whole }] of journals) say(fileOfJournal(name), `${whole.length} entries`)
  if (order !== undefined) found.push({ file: place || 'directory', state: 'damaged', detail: order })
  return found
}

/** The part of a damaged directory that belongs to one moment. */
export interface Salvage {
  /** Entries by journal. */
  journals: Map<string, unknown[]>
  /** Data that is lost, a sentence each. */
  lost: string[]
}

/**
 * Finds the data of a damaged directory that can be saved: the ledger up to its last whole commit, and of each chain the part that this
 * ledger knows; less of the ledger if a chain has less. Throws DataDirectoryError if not even the beginning is whole.
 */
export async function salvageOf(directory: InspectedDirectory): Promise<Salvage> {
  const { path, manifest, journals, damages } = directory
  if (!manifest) {
    const what = `its manifest.json cannot be read (${damages.get('manifest.json')}), and the key of every wallet is made from the seed in it`
    throw unsalvageable(path, what)
  }
  const ledger = entriesOf<LedgerEntry>(journals.get('ledger'), parseLedgerEntry)
  const chains = new Map(
    namesOf(journals, 'chain-').map((name) => [name, entriesOf<ChainEntry>(journals.get(name), parse)]),
  )
  const shownAlone = [...damages.keys()].every((file) => /^(showings|blocks-.*)\.journal$/.test(file))
  if (!shownAlone) await cutToOneMoment(path, ledger, { chains, journals })
  const salvaged = new Map<string, unknown[]>([['ledger', ledger.kept], ...mapKept(chains)])
  for (const name of namesOf(journals, 'blocks-')) {
    const chain = chains.get(name.replace('blocks-', 'chain-'))?.kept ?? []
    salvaged.set(name, archiveUpTo(journals.get(name), chain))
  }
  // Showings after the last commit that is left were of other amounts.
  const showings = ledger.lost.length === 0 ? entriesOf(journals.get('showings'), parse).kept : []
  if (journals.has('showings')) salvaged.set('showings', showings)
  return { journals: salvaged, lost: wordsOf(directory, ledger, chains, salvaged) }
}

/** Makes a data directory from the salvaged data, at a path where nothing exists yet. Throws DataDirectoryError. */
export async function writeSalvage(
  { manifest }: InspectedDirectory,
  { journals }: Salvage,
  { to, log }: { to: string; log: Logger },
): Promise<void> {
  if (!manifest) return
  const { version, seed, fixture, runs, clock, seeded } = manifest
  const copy = await DataDirectory.open(to, { version, seed, fixture, runs, synced: true, log })
  try {
    if (copy.manifest.data.journals.length > 0) {
      throw new DataDirectoryError(to, 'it holds a sandbox already', 'choose an empty or a new directory as --salvage')
    }
    for (const [name, entries] of journals) await (await copy.journal(name)).rewrite(entries)
    await copy.manifest.update({ clock, seeded, clean: false })
  } finally {
    await copy.close()
  }
}

/** The entries that are kept, and the readable ones behind them. */
interface Cut<Entry> {
  kept: Entry[]
  lost: Entry[]
}

type Chains = Map<string, Cut<ChainEntry>>
type Journals = ReadonlyMap<string, InspectedJournal>

/** Cuts ledger and chains until none refers to an entry that another one lacks. */
async function cutToOneMoment(
  path: string,
  ledger: Cut<LedgerEntry>,
  { chains, journals }: { chains: Chains; journals: Journals },
): Promise<void> {
  requireBeginnings(path, ledger, chains)
  for (;;) {
    const before = [ledger, ...chains.values()].map(({ kept }) => kept.length).join()
    cut(ledger, await firstUnmined(ledger, { chains, journals }))
    for (const chain of chains.values()) cut(chain, await firstUnknown(chain, ledger))
    requireBeginnings(path, ledger, chains)
    if ([ledger, ...chains.values()].map(({ kept }) => kept.length).join() === before) return
  }
}

/** Throws DataDirectoryError if the beginning of a file, on which the rest of the file depends, is not whole. */
function requireBeginnings(path: string, ledger: Cut<LedgerEntry>, chains: Chains): void {
  if (ledger.kept.length < beginningOf([...ledger.kept, ...ledger.lost])) {
    throw unsalvageable(join(path, 'ledger.journal'), 'it is damaged in what all its commits stand on')
  }
  for (const [name, { kept }] of chains) {
    if (kept[0] && 'checkpoint' in kept[0]) continue
    throw unsalvageable(join(path, `${name}.journal`), 'it is damaged in the state of the chain that it begins with')
  }
}

/** Number of entries at the beginning of a ledger that are valid only together: its content at the last rewrite. */
function beginningOf(entries: readonly LedgerEntry[]): number {
  const first = entries.findIndex((entry) => !('packed' in entry) && entry.puts.length < RECORDS_PER_ENTRY)
  return first + 1
}

/** Index of the ledger's first entry with a transaction that no chain has. */
async function firstUnmined(
  { kept }: Cut<LedgerEntry>,
  { chains, journals }: { chains: Chains; journals: Journals },
): Promise<number> {
  const mined = new Set([...chains.values()].flatMap((chain) => sentIn(chain.kept).map(({ hash }) => hash)))
  const archives = await Promise.all(namesOf(journals, 'blocks-').map((name) => archiveOf(journals.get(name))))
  const hashesOf = (entry: LedgerEntry) => ('packed' in entry ? [] : transactionsIn(entry))
  const from = kept.findLastIndex((entry) => hashesOf(entry).some((hash) => mined.has(hash))) + 1
  const isMined = (hash: Hex) => mined.has(hash) || archives.some((archive) => archive.outcome(hash) !== undefined)
  const index = kept.findIndex((entry, i) => i >= from && hashesOf(entry).some((hash) => !isMined(hash)))
  return index < 0 ? kept.length : index
}

/** Index of a chain's first operation with a transfer of an end user that the ledger does not have. */
async function firstUnknown({ kept }: Cut<ChainEntry>, ledger: Cut<LedgerEntry>): Promise<number> {
  const changes = ledger.kept.filter((entry): entry is LedgerChanges => !('packed' in entry))
  const booked = new Set(changes.flatMap(transactionsIn))
  const puts = changes.flatMap((entry) => entry.puts)
  const signed = new Set(
    puts.flatMap(([name, , record]) => (name === 'transfers' && 'tx_hash' in record ? record.tx_hash : [])),
  )
  const wallets = walletsOf([...ledger.kept, ...ledger.lost])
  const sent = sentIn(kept)
  // Transfers before a booked one were signed before it was booked, so the ledger has them, or they came to nothing.
  const from = sent.findLast(({ hash }) => booked.has(hash))?.index ?? -1
  for (const { index, hash, raw } of sent) {
    if (index <= from || booked.has(hash) || signed.has(hash)) continue
    if (wallets.has(await senderOf(raw))) return index
  }
  return kept.length
}

function cut<Entry>(of: Cut<Entry>, at: number): void {
  of.lost.unshift(...of.kept.splice(at))
}

function entriesOf<Entry>(journal: InspectedJournal | undefined, parse: (json: Buffer) => Entry): Cut<Entry> {
  return { kept: journal?.whole.map(parse) ?? [], lost: journal?.behind.map(parse) ?? [] }
}

function parse<Entry>(json: Buffer): Entry {
  return JSON.parse(json.toString())
}

function parseLedgerEntry(json: Buffer): LedgerEntry {
  return isSegment(json) ? segmentIn(json) : parse(json)
}

function namesOf(journals: Journals, prefix: string): string[] {
  return [...journals.keys()].filter((name) => name.startsWith(prefix))
}

function mapKept(chains: Chains): [string, unknown[]][] {
  return [...chains].map(([name, { kept }]) => [name, kept])
}

function transactionsIn({ puts }: LedgerChanges): Hex[] {
  return puts.flatMap(([name, , record]) => (name === 'transactions' && 'tx_hash' in record ? record.tx_hash : []))
}

function walletsOf(entries: readonly LedgerEntry[]): Set<string> {
  const puts = entries.flatMap((entry) => ('packed' in entry ? [] : entry.puts))
  return new Set(
    puts.flatMap(([, , record]) => ('wallet_address' in record ? record.wallet_address.toLowerCase() : [])),
  )
}

/** The transactions that a chain's operations mined, each with the index of its operation. */
function sentIn(entries: readonly ChainEntry[]): { index: number; hash: Hex; raw: Hex }[] {
  return entries.flatMap((entry, index) =>
    'mine' in entry ? (entry.send ?? []).map((raw) => ({ index, raw, hash: keccak256(raw) })) : [],
  )
}

async function senderOf(raw: Hex): Promise<string> {
  const serializedTransaction = raw as Parameters<typeof recoverTransactionAddress>[0]['serializedTransaction']
  return (await recoverTransactionAddress({ serializedTransaction })).toLowerCase()
}

async function archiveOf(journal: InspectedJournal | undefined): Promise<BlockArchive> {
  const memory = new MemoryJournal<ArchiveEntry>()
  await memory.rewrite(entriesOf<ArchiveEntry>(journal, parse).kept)
  const archive = new BlockArchive(Promise.resolve(memory))
  await archive.opened
  return archive
}

/** The archive of blocks that the chain has dropped, up to the chain's end; empty if blocks before the chain's beginning are missing. */
function archiveUpTo(journal: InspectedJournal | undefined, [first, ...rest]: readonly ChainEntry[]): ArchiveEntry[] {
  if (!first || !('checkpoint' in first)) return []
  const { checkpoint } = first
  const operations = rest.filter((entry): entry is ChainOperation => !('checkpoint' in entry))
  const { kept } = entriesOf<ArchiveEntry>(journal, parse)
  let last = 0
  for (const entry of kept) last = 'truncated' in entry ? entry.truncated - 1 : entry.first + entry.counts.length - 1
  const { number } = tipOf({ checkpoint, operations })
  if (last < Number(checkpoint.block.number) && journal?.damage !== undefined) return []
  return last > number ? [...kept, { truncated: number + 1 }] : kept
}

function wordsOf(
  { journals, damages }: InspectedDirectory,
  ledger: Cut<LedgerEntry>,
  chains: Chains,
  salvaged: ReadonlyMap<string, unknown[]>,
): string[] {
  const lost: string[] = []
  const known = ledger.lost.flatMap((entry) => ('packed' in entry ? [] : transactionsIn(entry)))
  const unreadable = damages.has('ledger.journal') ? ', and what the damaged lines held' : ''
  if (ledger.lost.length > 0 || unreadable) {
    lost.push(`of the ledger, ${ledger.lost.length} commits with ${known.length} transactions${unreadable}`)
  }
  for (const [name, { lost: operations }] of chains) {
    if (operations.length > 0 || damages.has(`${name}.journal`))
      lost.push(`of ${name}, ${operations.length} operations, and what the damaged lines held`)
  }
  for (const name of ['showings', ...namesOf(journals, 'blocks-')]) {
    const all = (journals.get(name)?.whole.length ?? 0) + (journals.get(name)?.behind.length ?? 0)
    const kept = salvaged.get(name)?.length ?? 0
    if (kept < all || damages.has(`${name}.journal`))
      lost.push(`of ${name}, all but ${kept} of ${all} lines that can be read`)
  }
  return lost
}

function unsalvageable(path: string, what: string): DataDirectoryError {
  return new DataDirectoryError(path, `nothing can be salvaged: ${what}`, 'restore a backup of the whole directory')
}
