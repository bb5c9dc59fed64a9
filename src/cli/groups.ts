import type { Register } from './context.ts'
import { subjects } from './remote/operations/subjects.ts'

/** Commands that are loaded together, and the first words that load them. */
export type CommandGroup = {
  words: readonly string[]
  /** By the words and arguments of each: what the list of all commands says, without loading it. */
  summaries: Readonly<Record<string, string>>
  /** `host` commands open the stores of a ledger on this machine, `network` commands call a server with a token, `alone` ones do neither. */
  where: 'host' | 'network' | 'alone'
  load: () => Promise<Register>
}

const groupOf =
  (where: CommandGroup['where']) =>
  (summaries: CommandGroup['summaries'], load: CommandGroup['load']): CommandGroup => ({
    words: Object.keys(summaries).map((usage) => usage.split(' ')[0] ?? usage),
    summaries,
    where,
    load,
  })
const host = groupOf('host')
const network = groupOf('network')
const alone = groupOf('alone')

/** The commands that call a server with a token, in the order of the help. */
const networkGroups: readonly CommandGroup[] = [
  network(
    {
      login: 'Sign in to a server: a person approves this machine in the dashboard',
      logout: 'Revoke the token of this profile at the server, and remove it from this machine',
      whoami: 'Show the server, the tenant and the scopes of the token',
      profiles: 'The servers that this user is signed in to',
    },
    async () => (await import('./commands/remote/session.ts')).sessionCommands,
  ),
  network(
    Object.fromEntries(Object.entries(subjects).filter(([words]) => !words.includes(' '))),
    async () => (await import('./commands/remote/operations.ts')).operationCommands,
  ),
  network(
    {
      listen: "Forward the tenant's webhook events to a program on this machine while this runs",
      'trigger <event>': 'Send a test event, such as license.revoked, to where `keyledger listen` forwards',
    },
    async () => (await import('./commands/remote/listen.ts')).listenCommands,
  ),
  network(
    {
      'api <method> <path>':
        'Call any operation, such as: api GET "/v1/licenses?product=editor"; prints its answer',
    },
    async () => (await import('./commands/remote/api.ts')).apiCommand,
  ),
  network(
    { mcp: 'Serve the tools for AI agents on stdin and stdout (Model Context Protocol)' },
    async () => (await import('./commands/remote/mcp.ts')).mcpCommand,
  ),
]

/** The commands that need neither a token nor the stores of a ledger, in the order of the help. */
const aloneGroups: readonly CommandGroup[] = [
  alone(
    { verify: 'Check proofs of the log with public keys' },
    async () => (await import('./commands/verify.ts')).verifyCommands,
  ),
  alone(
    { witness: 'Run a witness, which cosigns the checkpoints of logs that others run' },
    async () => (await import('./commands/witness.ts')).witnessCommand,
  ),
  alone(
    { relay: 'Give out floating seats in a network that cannot reach the vendor' },
    async () => (await import('./commands/relay.ts')).relayCommands,
  ),
  alone(
    {
      'completion <shell>': 'Print a script that completes commands and options: bash, zsh or fish',
    },
    async () => (await import('./commands/completion.ts')).completionCommand,
  ),
]

/** The commands of operators, in the order of the help. */
const hostGroups: readonly CommandGroup[] = [
  host({ serve: 'Run the server' }, async () => (await import('./commands/serve.ts')).serveCommand),
  host(
    { demo: 'Run through the life of a license on a temporary ledger, showing every step' },
    async () => (await import('./commands/demo.ts')).demoCommand,
  ),
  host(
    {
      init: 'Create the data directory, the master key and the schemas, and optionally a tenant',
      migrate: 'Migrate the schemas and rebuild the read models for this version',
    },
    async () => (await import('./commands/host.ts')).hostCommands,
  ),
  host(
    { config: 'Check the variables of the environment, and print which are set' },
    async () => (await import('./commands/config.ts')).configCommand,
  ),
  host(
    { doctor: 'Check every part and explain how to fix problems' },
    async () => (await import('./commands/doctor.ts')).doctorCommand,
  ),
  host(
    {
      freeze: 'Reject every write with 503 in all processes until unfreeze; reads and validates continue',
      unfreeze: 'End a freeze',
    },
    async () => (await import('./commands/freeze.ts')).freezeCommands,
  ),
  host(
    {
      copy: 'Copy the log to another event store, and the durable tables to another database; resumes an earlier copy',
    },
    async () => (await import('./commands/copy.ts')).copyCommand,
  ),
  host(
    { tenant: 'The vendors on this installation' },
    async () => (await import('./commands/tenant.ts')).tenantCommands,
  ),
  host({ member: 'Members of a tenant' }, async () => (await import('./commands/member.ts')).memberCommands),
  host({ token: 'Access tokens' }, async () => (await import('./commands/token.ts')).tokenCommands),
  host(
    {
      keys: 'The keys that sign leases and settings',
      'checkout-key': 'The API key for creating checkout sessions',
    },
    async () => (await import('./commands/keys.ts')).keyCommands,
  ),
  host(
    { webhook: "A tenant's webhook", webhooks: 'Tools for developing a webhook receiver' },
    async () => (await import('./commands/webhook.ts')).webhookCommands,
  ),
  host(
    { import: 'Import licenses from another system: a preview, or with --apply the import' },
    async () => (await import('./commands/import.ts')).importCommand,
  ),
  host(
    { events: "A tenant's license events" },
    async () => (await import('./commands/events.ts')).eventCommands,
  ),
  host(
    { 'test-purchase <productId>': 'Run a test purchase against the running server and print its stages' },
    async () => (await import('./commands/test-purchase.ts')).testPurchaseCommand,
  ),
  host(
    { subject: 'Personal data of customers' },
    async () => (await import('./commands/subject.ts')).subjectCommands,
  ),
  host(
    { confirmations: 'Dangerous operations that need approval' },
    async () => (await import('./commands/confirmations.ts')).confirmationCommands,
  ),
  host(
    { projections: 'The read models, built from the log' },
    async () => (await import('./commands/projections.ts')).projectionCommands,
  ),
  host(
    {
      backup: 'Back up the log and the durable tables to a file; works while the server runs',
      'restore <file>': 'Restore a backup into an empty data directory, or an empty event store and database',
    },
    async () => (await import('./commands/backup.ts')).backupCommands,
  ),
  host(
    { notary: 'The signed checkpoints of the log' },
    async () => (await import('./commands/notary.ts')).notaryCommands,
  ),
  host(
    { audit: 'Check the read models against the log, and the log against what was signed' },
    async () => (await import('./commands/audit.ts')).auditCommands,
  ),
]

/** Every command, those over the network first. */
export const commandGroups: readonly CommandGroup[] = [...networkGroups, ...aloneGroups, ...hostGroups]
