import closeWithGrace from 'close-with-grace'
import type { Command } from 'commander'
import { DirectoryInUse } from '../../files/directory-lock.ts'
import { wholeNumberOf } from '../../numbers.ts'
import { CommandMisused, CommandRefused, CommandUnavailable } from '../../terminal/exit-codes.ts'
import { printToStderr } from '../../terminal/output.ts'
import { signatureTypes } from '../../transparency/note/keys.ts'
import { NoteError } from '../../transparency/note/note.ts'
import { formatVerifierKey, parseVerifierKey, type VerifierKey } from '../../transparency/note/verifier.ts'
import { openDirectory } from '../../witness/data-directory.ts'
import { KeyUnusable, openIdentity, type WitnessIdentity } from '../../witness/key.ts'
import { serveWitness } from '../../witness/server.ts'
import { openStore, StateDamaged, type WitnessStore } from '../../witness/store.ts'
import type { WitnessedLog } from '../../witness/witness.ts'
import { topCommand } from '../context.ts'

type Options = { data: string; port: string; host: string; log: string[]; name: string }

/** How long running requests may take to finish after Ctrl-C. */
const drainMs = 5000

/** `keyledger witness`: cosigns the checkpoints of logs. It needs no ledger. */
export function witnessCommand(program: Command): void {
  topCommand(program, 'witness')
    .requiredOption('--data <directory>', 'where its key and its signed checkpoints are stored')
    .requiredOption('--name <name>', 'its name in signatures, such as example.com/witness')
    .requiredOption(
      '--log <vkey>',
      'public key of a log to follow; may be repeated, also for a second key of it',
      list,
    )
    .option('--port <number>', 'the port to listen on; 0 takes a free one', '7080')
    .option('--host <address>', 'the address to listen on', 'localhost')
    .action(runWitness)
}

const list = (value: string, before: string[] = []): string[] => [...before, value]

async function runWitness({ data, port, host, log, name }: Options): Promise<void> {
  const logs = logsOf(log)
  const at = { host, port: wholeNumberOf('--port', port, 0, 65_535) }
  const { identity, store, unlock } = openData(data, name, logs)
  const onError = (error: unknown) => {
    printToStderr(error instanceof Error ? (error.stack ?? error.message) : String(error))
  }
  const server = await serveWitness({ identity, logs, store, now: () => new Date() }, at, onError)
  closeWithGrace({ delay: drainMs, logger: false }, async () => {
    await server.close()
    unlock()
  })
  process.stdout.write(
    `${[
      `Witness key: ${formatVerifierKey(identity.key)}`,
      `Address: http://${host}:${String(server.port)}`,
      ...logs.map(
        ({ origin }) => `Log: ${origin}, ${String(store.read(origin)?.checkpoint.size ?? 0)} events so far`,
      ),
    ].join('\n')}\n`,
  )
}

/** The logs by their origins, which are the names of their keys. @throws CommandMisused */
function logsOf(keys: readonly string[]): WitnessedLog[] {
  const parsed = keys.map(keyOf)
  const origins = [...new Set(parsed.map(({ name }) => name))]
  return origins.map((origin) => ({ origin, keys: parsed.filter(({ name }) => name === origin) }))
}

function keyOf(text: string): VerifierKey {
  try {
    const key = parseVerifierKey(text)
    if (key.type === signatureTypes.ed25519) return key
  } catch (error) {
    if (!(error instanceof NoteError)) throw error
    throw new CommandMisused(`--log ${text} is not usable: ${error.message}.`)
  }
  throw new CommandMisused(`--log ${text} is the key of a witness. Give that of the log.`)
}

type Opened = { identity: WitnessIdentity; store: WitnessStore; unlock: () => void }

function openData(directory: string, name: string, logs: readonly WitnessedLog[]): Opened {
  try {
    const unlock = openDirectory(directory)
    const identity = openIdentity(directory, name)
    const store = openStore(directory, identity.key)
    // What cannot be read is said now, not at the first checkpoint.
    for (const { origin } of logs) store.read(origin)
    return { identity, store, unlock }
  } catch (error) {
    if (error instanceof DirectoryInUse) throw new CommandUnavailable(error.message)
    if (error instanceof KeyUnusable || error instanceof StateDamaged) throw new CommandRefused(error.message)
    if (error instanceof Error && 'path' in error)
      throw new CommandMisused(`${error.message}. Give a directory that you may write to with --data.`)
    throw error
  }
}
