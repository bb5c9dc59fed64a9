import { join } from 'node:path'
import type { Command } from 'commander'
import { keepHeapSmall } from '../../app/heap.ts'
import type { OutputOptions } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'
import type { DataOption, EnrollOptions, OutOption } from '../relay/options.ts'

/** The data directory has a folder for a relay. */
const defaultData = (): string => join(process.env.KEYLEDGER_DATA_DIR ?? '.keyledger', 'relay')

/** Each part is loaded when it runs: a relay that serves needs little memory. */
export function relayCommands(program: Command): void {
  const relay = topCommand(program, 'relay')
  const subcommand = (usage: string, description: string, options = {}) =>
    relay
      .command(usage, options)
      .description(description)
      .option(
        '--data <directory>',
        "the relay's directory; relay in KEYLEDGER_DATA_DIR by default",
        defaultData(),
      )

  subcommand('serve', 'Serve apps and the page for the administrator', { isDefault: true })
    .option('--port <number>', 'the port to listen on; 0 takes a free one', '7070')
    .option('--host <address>', 'the address to listen on', 'localhost')
    .action(async (options: DataOption & { port: string; host: string }) => {
      // Before the code is loaded, which would let it grow.
      keepHeapSmall()
      await (await import('../relay/serve.ts')).serve(options)
    })
  subcommand('enroll', 'Prepare a relay, and ask the vendor for its seats by file or over the network')
    .requiredOption('--tenant <tenantId>', "the vendor's id, as in the address that apps call")
    .requiredOption('--product <productId>', "the product's id, as in that address")
    .requiredOption('--name <name>', 'a name by which the vendor knows this relay')
    .requiredOption('--seats <number>', 'how many seats of the license the relay gives out')
    .option('--license-key-file <path>', 'file with the license key; - reads it from stdin; typed if absent')
    .option('--password-file <path>', "file with the administrator's new password; typed if absent")
    .option('--server <url>', 'the server of the vendor: the relay enrolls and renews over the network')
    .option('--sdk-key-file <path>', 'file with the SDK key of the app, for --server')
    .option('--out <file>', 'writes the request to a file instead of stdout')
    .action(async (options: EnrollOptions) => {
      await (await import('../relay/enroll.ts')).enrollRelay(options)
    })
  subcommand('accept <file>', "Accept the vendor's answer to a request; - reads it from stdin").action(
    async (file: string, options: DataOption) => {
      await (await import('../relay/vendor.ts')).accept(file, options)
    },
  )
  subcommand('renew', 'Renew the certificate: over the network, or with a request to carry to the vendor')
    .option('--seats <number>', 'how many seats to ask for from now on')
    .option('--out <file>', 'writes the request to a file, also where the relay has a server')
    .action(async (options: DataOption & OutOption & { seats?: string }) => {
      await (await import('../relay/vendor.ts')).renew(options)
    })
  subcommand('release', 'Give all seats back to the license; the relay gives out none from then on')
    .option(
      '--out <file>',
      'writes the statement for the vendor to a file, also where the relay has a server',
    )
    .action(async (options: DataOption & OutOption) => {
      await (await import('../relay/vendor.ts')).release(options)
    })
  subcommand('status', 'Show the seats, the certificate and whether the record is intact')
    .option('--json', 'prints one JSON value')
    .action(async (options: DataOption & OutputOptions) => {
      await (await import('../relay/status.ts')).showStatus(options)
    })
}
