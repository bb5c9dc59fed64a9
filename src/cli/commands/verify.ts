import { readFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { CommandMisused, exitCode } from '../../terminal/exit-codes.ts'
import { type OutputOptions, print } from '../../terminal/output.ts'
import { readArchive, verifyArchive } from '../../verifier/archive.ts'
import { vendorKeysIn } from '../../verifier/archive-signature.ts'
import { textIn } from '../../verifier/json.ts'
import { verifyLog } from '../../verifier/log.ts'
import { NotProved } from '../../verifier/not-proved.ts'
import { readLog } from '../../verifier/read-log.ts'
import { verifyReceipt } from '../../verifier/receipt.ts'
import { archiveLines, logLines, receiptLines, serverLines } from '../../verifier/sentences.ts'
import { verifyServer } from '../../verifier/server.ts'
import { type Trust, type TrustedCheckpoint, TrustUnusable, trustIn } from '../../verifier/trust.ts'
import { topCommand } from '../context.ts'
import { servedLog } from '../served-log.ts'

type Options = OutputOptions & { key: string[]; witness: string[]; threshold?: string }

/** `keyledger verify …`: checks what a log signed, with public keys only. It needs no ledger and no token. */
export function verifyCommands(program: Command): void {
  const verify = topCommand(program, 'verify')

  trusting(verify.command('receipt <file>'))
    .description('Check the receipt of an event')
    .action((file: string, options: Options) =>
      run(
        options,
        async (trust) => verifyReceipt(textIn('The receipt', await readOrMisused(file)), trust),
        receiptLines,
      ),
    )

  trusting(verify.command('archive <file>'))
    .description('Check an evidence archive and its proofs, packed or unpacked')
    .option(
      '--vendor-key <key>',
      'signing key of the vendor in base64, if you know it; may be repeated. Otherwise the log must say whose key it is',
      list,
    )
    .action((file: string, options: Options & { vendorKey?: string[] }) =>
      run(
        options,
        async (trust) => {
          const vendorKeys = wellFormed(() => vendorKeysIn(options.vendorKey ?? []))
          return verifyArchive(await usable(() => readArchive(file)), trust, vendorKeys)
        },
        archiveLines,
      ),
    )

  trusting(verify.command('log <directory>'))
    .description('Compute the tree of a copied log again')
    .option('--checkpoint <file>', 'a checkpoint or receipt that you kept, which the log must begin with')
    .action((directory: string, options: Options & { checkpoint?: string }) =>
      run(
        options,
        async (trust) => {
          const kept = options.checkpoint === undefined ? undefined : await readOrMisused(options.checkpoint)
          return verifyLog(
            await usable(() => readLog(directory)),
            trust,
            kept && textIn('The kept checkpoint', kept),
          )
        },
        logLines,
      ),
    )

  trusting(verify.command('server <url>'))
    .description('Check that the log of a running server continues one that you know')
    .requiredOption('--checkpoint <file>', 'a checkpoint or receipt that you kept')
    .action((url: string, options: Options & { checkpoint: string }) =>
      run(
        options,
        async (trust) => {
          const kept = await readOrMisused(options.checkpoint)
          return verifyServer(servedLog(url), trust, textIn('The kept checkpoint', kept))
        },
        serverLines,
      ),
    )
}

const list = (value: string, before: string[] = []): string[] => [...before, value]

const trusting = (command: Command): Command =>
  command
    .requiredOption('--key <vkey>', 'public key of the log; may be repeated after a change of keys', list)
    .option('--witness <vkey>', 'public key of a witness that you trust; may be repeated', list)
    .option('--threshold <number>', 'how many of the witnesses must have signed; defaults to all')
    .option('--json', 'print what was proved, or {proved, finding, message, event}')

/** Prints what was proved, or why it was not. */
async function run<Proved extends { notProved?: string[] } & object>(
  options: Options,
  check: (trust: Trust) => Promise<Proved>,
  lines: (proved: Proved) => string[],
): Promise<void> {
  const trust = trustOf(options)
  try {
    const proved = await check(trust)
    const isWhole = (proved.notProved ?? []).length === 0
    print(options, { proved: isWhole, ...viewOf(proved) }, () => lines(proved))
    if (!isWhole) process.exitCode = exitCode.partly
  } catch (error) {
    if (!(error instanceof NotProved)) throw error
    const { finding, message, event = null } = error
    print(options, { proved: false, finding, message, event }, () => [`NOT PROVED: ${message}`])
    process.exitCode = exitCode.refused
  }
}

const trustOf = ({ key, witness = [], threshold }: Options): Trust =>
  wellFormed(() => trustIn(key, witness, threshold))

/** @throws CommandMisused for a key that cannot be used */
function wellFormed<T>(read: () => T): T {
  try {
    return read()
  } catch (error) {
    if (error instanceof TrustUnusable) throw new CommandMisused(error.message)
    throw error
  }
}

/** What was proved as JSON: of a checkpoint without its text, and its root as the text has it. */
const viewOf = (proved: object): object =>
  Object.fromEntries(
    Object.entries(proved).map(([name, value]: [string, unknown]) => {
      if (!isCheckpoint(value)) return [name, value]
      const { origin, size, root, cosigned } = value
      return [name, { origin, size, root: Buffer.from(root).toString('base64'), cosigned }]
    }),
  )

const isCheckpoint = (value: unknown): value is TrustedCheckpoint =>
  typeof value === 'object' && value !== null && 'cosigned' in value

const readOrMisused = (file: string): Promise<Buffer> => usable(() => readFile(file))

/** Runs what reads a file. @throws CommandMisused when the file system does not give it */
async function usable<T>(read: () => T | Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (error instanceof Error && 'path' in error)
      throw new CommandMisused(`${error.message}. Give the path of a file that you may read.`)
    throw error
  }
}
