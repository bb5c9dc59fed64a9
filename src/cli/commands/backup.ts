import { type Command, Option } from 'commander'
import type { MakeOptions, OpenOptions } from '../backup/actions.ts'
import { topCommand } from '../context.ts'
import { endWithParent } from '../serving.ts'

/** Loaded lazily, with the code for encryption and compression. */
const actions = () => import('../backup/actions.ts')

/** `keyledger backup …` and `keyledger restore`: the log and the durable tables in one file. */
export function backupCommands(program: Command): void {
  const backup = topCommand(program, 'backup').argument('<file>')
  lockOptions(backup)
    .option('--full-speed', 'do not throttle, for when the server is not running')
    .option('--json', 'print {file, id, bytes, events, tables, encrypted}')
    // For the server, which starts it with a channel that closes when the server dies.
    .addOption(new Option('--child').hideHelp())
    .action(async (file: string, options: MakeOptions & { child?: boolean }) => {
      if (options.child) endWithParent()
      await (await actions()).makeBackup(file, options)
    })

  const verifying = backup
    .command('verify <file>')
    .description(
      'Restore a backup into a temporary directory, compare it with the file, and verify the read models; exit code 1 if they differ',
    )
  keyOptions(verifying)
    .option('--json', 'print {file, id, createdAt, events, rows, masterKey, differences}')
    // Commander assigns options that `backup` also has to `backup`.
    .action(async (file: string, _: object, command: Command) =>
      (await actions()).verifyBackup(file, command.optsWithGlobals<OpenOptions>()),
    )

  const restoring = topCommand(program, 'restore')
  keyOptions(restoring)
    .option('--json', 'print {file, id, createdAt, events, tables}')
    .action(async (file: string, options: OpenOptions) => (await actions()).restoreBackup(file, options))
}

/** Adds the options for encryption. */
const lockOptions = (command: Command): Command =>
  command
    .option(
      '--recipient <age1…>',
      'encrypt for this age public key; may be repeated',
      (one: string, others: string[] = []) => [...others, one],
    )
    .option('--passphrase', 'encrypt with a passphrase, entered at the prompt')
    .option(
      '--passphrase-file <path>',
      'encrypt with the passphrase in the first line of the file, or of stdin for -',
    )

/** Adds the options for decryption. */
const keyOptions = (command: Command): Command =>
  command
    .option('--identity <path>', 'file with the age secret keys, AGE-SECRET-KEY-1…')
    .option('--passphrase', 'prompt for the passphrase')
    .option(
      '--passphrase-file <path>',
      'read the passphrase from the first line of the file, or of stdin for -',
    )
