import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import type { Stores } from '../../app/stores.ts'
import { withStores } from '../../app/with-stores.ts'
import { causeOf, momentOf, type Origin } from '../../commands/origin.ts'
import { logOrigin } from '../../config/values.ts'
import { parseConfig } from '../../config.ts'
import { openRawLog } from '../../ledger/raw/log.ts'
import { readCheckpoint } from '../../notary/checkpoints.ts'
import { resumeLog, startNextLog } from '../../notary/continue.ts'
import { NotResumable } from '../../notary/newest.ts'
import { addKey, readNotaryLog, retireKey } from '../../notary/signing-log.ts'
import { NotarySuspended, readSuspension } from '../../notary/suspension.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { CommandMisused, CommandRefused } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { showProgress } from '../../terminal/progress.ts'
import { parseCheckpoint } from '../../transparency/checkpoint.ts'
import { NoteError, parseNote } from '../../transparency/note/note.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'
import { knownElsewhere } from '../known-checkpoints.ts'

/** `keyledger notary …`: in whose name and with which keys the log is signed. */
export function notaryCommands(program: Command): void {
  const notary = topCommand(program, 'notary')

  notary
    .command('status')
    .description('Show the log, its keys and the last checkpoint, and why nothing is signed if so')
    .option('--json', 'print {origin, keys, predecessors, checkpoint, trouble}')
    .action((options: OutputOptions) => withStores((stores) => printStatus(stores, options)))

  notary
    .command('add-key')
    .description(
      'Add a key; each checkpoint is signed by all keys, so that readers can switch to the new one',
    )
    .option('--json', 'print {key}')
    .action((options: OutputOptions) =>
      withStores(async ({ ports }, origin) => {
        const key = await addKey(ports, causeNow(ports, origin))
        print(options, { key }, () => [
          `Checkpoints are signed by this key as well: ${key}`,
          'Give it to the readers. When they have it: keyledger notary retire-key <old key>',
        ])
      }),
    )

  notary
    .command('retire-key <key>')
    .description('Stop signing with a key, and destroy its private part')
    .option('--json', 'print {retired}')
    .action((key: string, options: OutputOptions) =>
      withStores(async ({ ports }, origin) => {
        await retireKey(ports, key, causeNow(ports, origin))
        print(options, { retired: key }, () => [`The key is retired: ${key}`])
      }),
    )

  notary
    .command('resume')
    .description('Continue signing after a restore or a move, from the last signed checkpoint')
    .requiredOption(
      '--checkpoint <file>',
      'the last signed checkpoint, as a witness, KEYLEDGER_NOTARY_KEEP or a published copy has it',
    )
    .option(
      '--published <url>',
      'where a copy of the log is published, to ask for its last checkpoint; may be repeated',
      list,
    )
    .option(
      '--abandon-after <size>',
      'confirm that no larger checkpoint was published; anything beyond this size is abandoned',
    )
    .option('--json', 'print {origin, size}')
    .action((options: ResumeOptions) => withStores((stores) => resume(stores, options)))

  notary
    .command('new-log')
    .description('End the log and start another one, which names the last known checkpoint of the ended log')
    .option('--origin <name>', 'its name; defaults to the name of the ended log with a number')
    .option('--checkpoint <file>', 'the last published checkpoint; defaults to the one in the database')
    .option('--json', 'print {origin}')
    .action((options: OutputOptions & { origin?: string; checkpoint?: string }) =>
      withStores(async ({ ports }, origin) => {
        const lastCheckpoint =
          options.checkpoint === undefined ? undefined : await checkpointIn(options.checkpoint)
        const input = { origin: parsed(logOrigin.optional(), options.origin, '--origin'), lastCheckpoint }
        const started = await startNextLog(ports, input, causeNow(ports, origin)).catch(asRefused)
        print(options, { origin: started }, () => [
          `The log ${started} has started; a server with the role notary signs it.`,
          'Its key: keyledger notary status',
        ])
      }),
    )
}

function asRefused(error: unknown): never {
  if (error instanceof NotResumable || error instanceof NotarySuspended)
    throw new CommandRefused(error.message)
  throw error
}

const list = (value: string, before: string[] = []): string[] => [...before, value]

const causeNow = (ports: Stores['ports'], origin: Origin) => causeOf(origin, momentOf(ports))

/** @throws CommandMisused */
const noteIn = (file: string): Promise<string> =>
  readFile(file, 'utf8').catch((error: unknown) => {
    throw new CommandMisused(
      `${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`,
    )
  })

/** @throws CommandMisused for a file that is no checkpoint */
async function checkpointIn(file: string): Promise<string> {
  const note = await noteIn(file)
  try {
    parseCheckpoint(parseNote(note).text)
    return note
  } catch (error) {
    if (error instanceof NoteError) throw new CommandMisused(`${file} is no checkpoint: ${error.message}`)
    throw error
  }
}

async function printStatus({ ports }: Stores, options: OutputOptions): Promise<void> {
  const [log, checkpoint, trouble] = await Promise.all([
    readNotaryLog(ports),
    readCheckpoint(ports.db),
    readSuspension(ports.db),
  ])
  const { origin = null, keys, predecessors } = log
  const shown = {
    origin,
    keys,
    predecessors,
    checkpoint: checkpoint ? { size: checkpoint.size, signedAt: checkpoint.signedAt } : null,
    trouble: trouble ? { message: trouble.message, since: trouble.since } : null,
  }
  print(options, shown, () => [
    origin === null
      ? 'The notary has not started yet: a server with the role notary starts it.'
      : `Log: ${origin}`,
    ...keys.map((key) => `Key: ${key}`),
    ...predecessors.map((log) => `Ended log: ${log.origin}`),
    ...(shown.checkpoint
      ? [`Last checkpoint: ${String(shown.checkpoint.size)} events, signed at ${shown.checkpoint.signedAt}`]
      : []),
    ...(shown.trouble ? [`Nothing is signed since ${shown.trouble.since}: ${shown.trouble.message}`] : []),
  ])
}

type ResumeOptions = OutputOptions & { checkpoint: string; published?: string[]; abandonAfter?: string }

async function resume({ ports, addresses }: Stores, options: ResumeOptions): Promise<void> {
  const note = await noteIn(options.checkpoint)
  const { abandonAfter: size, published = [] } = options
  const abandonAfter =
    size === undefined ? undefined : wholeNumberOf('--abandon-after', size, 0, Number.MAX_SAFE_INTEGER)
  const keys = async () => (await readNotaryLog(ports)).keys
  const known = knownElsewhere(parseConfig(process.env), published, keys)
  const log = openRawLog(addresses.eventstoreUrl)
  const progress = showProgress('Hashing')
  try {
    const resumed = await resumeLog({ ...ports, log }, { note, known, abandonAfter }, (done, total) =>
      progress.update({ events: done, position: BigInt(done), head: BigInt(total) }),
    )
    progress.done()
    print(options, resumed, () => [
      `The log ${resumed.origin} continues after ${String(resumed.size)} events; a server with the role notary signs it.`,
    ])
  } catch (error) {
    if (error instanceof NotResumable || error instanceof NotarySuspended)
      throw new CommandRefused(error.message)
    throw error
  } finally {
    await log.close()
  }
}
